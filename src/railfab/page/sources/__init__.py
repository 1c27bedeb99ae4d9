"""Where the page has its numbers from: a collector in this process, the exposition of another one, a Prometheus."""

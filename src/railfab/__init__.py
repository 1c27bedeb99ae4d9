"""railfab: design, render, deploy, observe and simulate the Ethernet fabrics of GPU clusters."""

__version__ = "0.1.0"

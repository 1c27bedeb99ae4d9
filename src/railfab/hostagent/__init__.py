"""The agent of a GPU host: what its NICs are set to, count and are cabled to, beside what the plan wants of them.

It is a process of its own (`python -m railfab.hostagent`) that imports little, since it runs beside training jobs.
"""

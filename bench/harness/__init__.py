"""The driver's parts: the table of workloads, worker processes, measuring, bars, reports."""

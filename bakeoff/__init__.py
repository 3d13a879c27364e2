"""Does this vision-language model, in this quantisation, on this local runtime, still see?

Read the package from the bottom up: `errors` and `records` define the words, `scorers` and `stats` the numbers,
`tracks` the benchmarks, `backends` the runtimes, `engine` and `runs` the work, `report` and `plugin` what people see.
"""

__version__ = "0.1.0"

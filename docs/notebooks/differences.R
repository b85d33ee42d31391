# The difference between the families of every question, from the trials of a result.
#
#     v6gap export last --format csv -o trials.csv
#     v6gap export last --format table -o table.csv
#     Rscript differences.R trials.csv table.csv
#
# Needs R alone. With the package arrow, arrow::read_parquet("last/trials.parquet") takes the place
# of read.csv. The rule is that of a run that ends when it is sure; for a number of pairs fixed
# before the run, use wilcox.test(effects, conf.int = TRUE)$estimate in place of the mean.

files <- commandArgs(trailingOnly = TRUE)
trials <- read.csv(files[1], check.names = FALSE, stringsAsFactors = FALSE)
table <- read.csv(files[2], stringsAsFactors = FALSE)

# What counts: trials of blocks that compare the families and passed every gate.
compared <- trials[trials$kind == "compare" & trials$block_valid %in% "true", ]

# The difference of each pair: the logarithm of the ratio, or the plain difference.
effects <- function(cell, metric, kind) {
  of_cell <- compared[compared$cell == cell, c("block", "attempt", "arm", paste0("values.", metric))]
  names(of_cell)[4] <- "value"
  arms <- merge(of_cell[of_cell$arm == "a", ], of_cell[of_cell$arm == "b", ],
                by = c("block", "attempt"), suffixes = c(".a", ".b"))
  if (kind == "ratio-1") log(arms$value.b / arms$value.a) else arms$value.b - arms$value.a
}

answered <- table[!is.na(table$effect), ]
answered$here <- mapply(function(cell, metric, kind) {
  centre <- mean(effects(cell, metric, kind), na.rm = TRUE)
  if (kind == "ratio-1") expm1(centre) else centre
}, answered$cell, answered$metric, answered$effect_kind)
print(answered[, c("question", "pairs", "effect", "here", "low95", "high95", "verdict")])

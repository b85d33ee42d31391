# The difference between the families of every question, from the trials of a result.
#
#     v6gap export last --format csv -o trials.csv
#     v6gap export last --format table -o table.csv
#     Rscript differences.R trials.csv table.csv
#
# Needs R alone. With the package arrow, arrow::read_parquet("last/trials.parquet") takes the place
# of read.csv.

files <- commandArgs(trailingOnly = TRUE)
trials <- read.csv(files[1], check.names = FALSE, stringsAsFactors = FALSE)
table <- read.csv(files[2], stringsAsFactors = FALSE)

# What counts: trials of blocks that compare the families and passed every gate.
compared <- trials[trials$kind == "compare" & trials$block_valid %in% "true", ]

# The median of the means of any two (Hodges and Lehmann).
middle <- function(d) {
  both <- outer(d, d, "+") / 2
  median(both[upper.tri(both, diag = TRUE)])
}

# The difference of each pair: the logarithm of the ratio, or the plain difference; where a round has
# several blocks, of ratios their middle and of shares their mean.
effects <- function(cell, metric, kind) {
  of_block <- c("round", "block", "attempt")
  of_cell <- compared[compared$cell == cell, c(of_block, "arm", paste0("values.", metric))]
  names(of_cell)[5] <- "value"
  of_cell <- of_cell[!is.na(of_cell$value), ]
  arms <- merge(of_cell[of_cell$arm == "a", ], of_cell[of_cell$arm == "b", ],
                by = of_block, suffixes = c(".a", ".b"))
  each <- if (kind == "ratio-1") log(arms$value.b / arms$value.a) else arms$value.b - arms$value.a
  as.vector(tapply(each, arms$round, if (kind == "ratio-1") middle else mean))
}

answered <- table[!is.na(table$effect), ]
answered$here <- mapply(function(cell, metric, kind) {
  d <- effects(cell, metric, kind)
  if (kind == "ratio-1") expm1(middle(d)) else mean(d)
}, answered$cell, answered$metric, answered$effect_kind)
print(answered[, c("question", "pairs", "effect", "here", "low95", "high95", "verdict")])

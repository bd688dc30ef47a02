# Writes boot.json: intervals of R's boot (Canty and Ripley), the reference of test_task_intervals.py.
#
#   Rscript boot.R > boot.json        (r-recommended; made with boot 1.3)
#
# The resampled indices are stored as well, so that the same resamples are compared.

suppressPackageStartupMessages(library(boot))
set.seed(20)

x <- c(0.00, 0.10, 0.13, 0.25, 0.31, 0.43, 0.50, 0.63, 0.66, 0.81, 0.92, 1.00)
y <- c(0.00, 0.12, 0.00, 0.20, 0.33, 0.13, 0.50, 0.39, 0.63, 0.36, 0.92, 0.43)
data <- data.frame(x, y)
md <- function(data, i) { d <- data$x[i] - data$y[i]; c(mean(d), var(d) / length(d)) }
z <- function(data, i) atanh(cor(data$x[i], data$y[i]))

vector <- function(v) paste0("[", paste(sprintf("%.17g", v), collapse = ", "), "]")
rows <- function(m) paste0("[", paste(apply(m, 1, function(r) paste0("[", paste(r - 1, collapse = ","), "]")), collapse = ","), "]")
object <- function(...) { parts <- list(...); paste0("{", paste0('"', names(parts), '": ', unlist(parts), collapse = ",\n "), "}") }

of_md <- boot(data, md, R = 399)
of_z <- boot(data, z, R = 399)
# Its acceleration comes from a regression on the resamples unless it is given the jackknife's influence values.
bca <- function(result) boot.ci(result, type = "bca", L = empinf(result, type = "jack"))$bca[4:5]
cat(object(
  x = vector(x), y = vector(y), alpha = 0.05,
  md_indices = rows(boot.array(of_md, indices = TRUE)), z_indices = rows(boot.array(of_z, indices = TRUE)),
  stud = vector(boot.ci(of_md, type = "stud")$student[4:5]), bca_md = vector(bca(of_md)),
  bca_z = vector(bca(of_z))
), "\n", sep = "")

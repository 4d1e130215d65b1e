//! Tests of the rewriter and the driver.

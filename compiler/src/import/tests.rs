//! Tests with small graphs made here. `tools/tests/models.rs` tests whole models.

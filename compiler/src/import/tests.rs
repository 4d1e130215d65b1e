//! Imports of small graphs made here. Whole models are tested in `tools/tests/models.rs`.

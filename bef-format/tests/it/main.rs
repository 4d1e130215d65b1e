//! Tests of the format as its users see it: write, validate, read, refuse.

mod patch;
mod samples;
mod walk;

mod broken;
mod corrupt;
mod device;
mod format_md;
mod golden;
mod roundtrip;
mod rules;
mod write;

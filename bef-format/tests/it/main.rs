//! Tests of the format as its users see it: write, validate, read, refuse.

mod samples;
mod walk;

mod write;

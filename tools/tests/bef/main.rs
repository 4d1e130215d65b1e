//! BEF files from the compiler to the runtime: what is lost on the way (nothing), what damaged files do (no harm), files that are large, replaced
//! or locked.

mod attributes;
mod files;
mod hostile;
mod large;
mod round_trip;

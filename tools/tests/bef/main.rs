//! BEF files from the compiler to the runtime: round trips, attributes by name, damaged files, large and
//! locked files.

mod attributes;
mod files;
mod hostile;
mod large;
mod round_trip;

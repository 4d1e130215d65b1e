//! Options of the printer.

/// Options of the printer.
#[derive(Clone, Copy, Debug, Default)]
pub struct PrintOptions {
    /// All ops in generic form.
    pub generic: bool,
    /// Values keep their names in the source text.
    pub keep_names: bool,
    /// Print locations, as aliases defined at the end.
    pub locations: bool,
    /// Everything is written at its use: no aliases and no resources around the op.
    pub local_scope: bool,
}

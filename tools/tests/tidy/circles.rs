//! Circles of files: the files of a crate's `src` that use each other, directly or through other files.
//!
//! The rules for the graph of a crate:
//!
//! - Files are found as the compiler finds them, from the root (`lib.rs` or `main.rs`) along `mod name;`.
//!   Items marked by `#[cfg(test)]` are left out, test modules with all of their files.
//! - An arrow goes from file A to file B if A refers by a path to an item that B defines: in a `use`, or in
//!   the code (`crate::a::f()`, `super::T`, `child::f()`, `imported_module::f()`). A path is
//!   followed through re-exports, one by one and `*`, to the file where the item is written; an item defined
//!   by a macro belongs to the file that calls the macro.
//! - A `pub use` is an arrow only if its file uses the name itself, so the list of names at the top of a
//!   `mod.rs` is none. Neither is `mod name;`, nor the import of a module: only the items used through it
//!   count.
//! - A circle is a strongly connected component of at least two files.
//!
//! Not seen: methods and fields, which are resolved by types and not by paths. A call of a method whose
//! `impl` is in another file than its type (`Module::def`, in the dialects) is not an arrow.

use befrost_testing::lex::{code_only, tokens};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of files in a circle.
const MAX_FILES: usize = 6;

/// A crate with a larger circle: its folder, the number of files in the circle, and the reason.
pub(crate) type Knot = (&'static str, usize, &'static str);

/// The imports, definitions and uses of one module.
#[derive(Default)]
struct Module {
    /// Number of the file.
    file: usize,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    /// The imported paths, by their names in this module.
    imports: BTreeMap<String, Vec<String>>,
    /// Names of `imports` that are not re-exports.
    private: BTreeSet<String>,
    /// The paths of the modules imported by `*`.
    globs: Vec<Vec<String>>,
    items: BTreeSet<String>,
    /// Words of the code outside of imports, except for fields and methods.
    words: BTreeSet<String>,
    /// Paths of two words or more in the code.
    paths: BTreeSet<Vec<String>>,
}

/// Target of a path.
#[derive(Clone, Copy)]
enum Target {
    Module(usize),
    /// An item of this file.
    Item(usize),
}

/// The modules of a crate.
#[derive(Default)]
struct Crate {
    files: Vec<String>,
    modules: Vec<Module>,
    /// The files of macros, by the macro's name.
    macros: BTreeMap<String, usize>,
}

/// The edges between files, each with an item that causes it.
type Arrows = BTreeMap<(usize, usize), String>;

/// The files of a crate and their arrows.
pub(crate) struct Graph {
    files: Vec<String>,
    arrows: Arrows,
}

impl Graph {
    /// Reads the crate whose root is the file `root`, with `text_of` to read files.
    pub(crate) fn of(root: &str, text_of: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut all = Crate::default();
        all.read(root, None, text_of);
        let arrows = all.arrows();
        Graph { files: all.files, arrows }
    }

    /// The circles, each sorted, the largest first.
    fn circles(&self) -> Vec<Vec<usize>> {
        let n = self.files.len();
        let reached: Vec<BTreeSet<usize>> = (0..n).map(|from| self.reached(from)).collect();
        let mut circles: Vec<Vec<usize>> = Vec::new();
        for file in 0..n {
            let circle: Vec<usize> = (0..n)
                .filter(|&other| reached[file].contains(&other) && reached[other].contains(&file))
                .collect();
            if circle.first() == Some(&file) {
                circles.push(circle);
            }
        }
        circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
        circles
    }

    /// The files reachable from `from`; itself only if it is in a circle.
    fn reached(&self, from: usize) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut open = vec![from];
        while let Some(file) = open.pop() {
            for (_, to) in self.arrows.range((file, 0)..=(file, usize::MAX)).map(|(arrow, _)| *arrow) {
                if reached.insert(to) {
                    open.push(to);
                }
            }
        }
        reached
    }

    /// The counts in one line. A room is a file or folder directly below `src`.
    pub(crate) fn summary(&self) -> String {
        let circles = self.circles();
        let room = |file: usize| {
            let (_, inside) = self.files[file].rsplit_once("src/").unwrap_or_default();
            inside.split('/').next().unwrap_or_default().trim_end_matches(".rs").to_owned()
        };
        let rooms: BTreeSet<String> = (0..self.files.len()).map(room).collect();
        let between: BTreeSet<(String, String)> =
            self.arrows.keys().map(|&(a, b)| (room(a), room(b))).filter(|(a, b)| a != b).collect();
        let mutual =
            between.iter().filter(|(a, b)| a < b && between.contains(&(b.clone(), a.clone()))).count();
        format!(
            "{} files, {} circles, the largest of {}; {} rooms, {} arrows between them, {mutual} pairs both ways",
            self.files.len(),
            circles.len(),
            circles.first().map_or(0, Vec::len),
            rooms.len(),
            between.len(),
        )
    }

    /// A fault for each circle of too many files. `knots` has the crates that may have larger ones, with the
    /// current size.
    pub(crate) fn faults(&self, folder: &str, knots: &[Knot]) -> Vec<String> {
        let circles = self.circles();
        let largest = circles.first().map_or(0, Vec::len);
        let known = knots.iter().find(|(knot, ..)| *knot == folder).map(|(_, size, _)| *size);
        if known.is_some_and(|size| size != largest || size <= MAX_FILES) {
            return vec![format!(
                "{folder}: the largest circle has {largest} files; correct the table KNOTS"
            )];
        }
        let most = known.unwrap_or(MAX_FILES);
        let too_large = circles.iter().filter(|circle| circle.len() > most);
        too_large
            .map(|circle| {
                let inside = |file: &usize| circle.binary_search(file).is_ok();
                let arrows = self.arrows.iter().filter(|((a, b), _)| inside(a) && inside(b));
                let arrows = arrows
                    .map(|(&(a, b), item)| format!("    {} uses {item} of {}", self.files[a], self.files[b]));
                let arrows: Vec<String> = arrows.collect();
                format!("{folder}: a circle of {} files\n{}", circle.len(), arrows.join("\n"))
            })
            .collect()
    }
}

impl Crate {
    /// Reads a file as a module, and the modules below it. Returns the module's number.
    fn read(
        &mut self,
        path: &str,
        parent: Option<usize>,
        text_of: &dyn Fn(&str) -> Option<String>,
    ) -> Option<usize> {
        let text = text_of(path)?;
        let file = self.files.len();
        self.files.push(path.to_owned());
        let module = self.add(file, parent);
        let (folder, name) = path.rsplit_once('/')?;
        let below = match name {
            "mod.rs" | "lib.rs" | "main.rs" => folder.to_owned(),
            _ => path.trim_end_matches(".rs").to_owned(),
        };
        let code = code_only(&text);
        let mut reader = Reader { all: self, tokens: &tokens(&code), at: 0, declared: Vec::new() };
        reader.module(module);
        for (declared_in, name, line) in reader.declared {
            // The contents of strings are blank in `code`.
            let said = line.checked_sub(2).and_then(|above| text.lines().nth(above));
            let said = said.and_then(|l| l.trim().strip_prefix("#[path = \"")?.strip_suffix("\"]"));
            let candidates = match said {
                Some(said) => vec![format!("{folder}/{said}")],
                None => vec![format!("{below}/{name}.rs"), format!("{below}/{name}/mod.rs")],
            };
            let child = candidates.iter().find_map(|path| self.read(path, Some(declared_in), text_of));
            self.modules[declared_in].children.extend(child.map(|child| (name, child)));
        }
        Some(module)
    }

    fn add(&mut self, file: usize, parent: Option<usize>) -> usize {
        self.modules.push(Module { file, parent, ..Module::default() });
        self.modules.len() - 1
    }

    /// Target of `name` in a module.
    fn find(&self, module: usize, name: &str, depth: usize) -> Option<Target> {
        let m = &self.modules[module];
        if let Some(child) = m.children.get(name) {
            return Some(Target::Module(*child));
        }
        if let Some(path) = m.imports.get(name) {
            return self.resolve(module, path, depth + 1);
        }
        if m.items.contains(name) {
            return Some(Target::Item(m.file));
        }
        m.globs.iter().find_map(|glob| match self.resolve(module, glob, depth + 1)? {
            Target::Module(from) if from != module && depth < 8 => self.find(from, name, depth + 1),
            _ => None,
        })
    }

    /// Target of a path from inside of `module`; `None` if it leaves the crate.
    fn resolve(&self, module: usize, path: &[String], depth: usize) -> Option<Target> {
        if depth > 16 {
            return None;
        }
        let (first, rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => Target::Module(0),
            "self" => Target::Module(module),
            "super" => Target::Module(self.modules[module].parent?),
            name => self.find(module, name, depth)?,
        };
        for name in rest {
            at = match at {
                Target::Item(_) => return Some(at),
                Target::Module(module) if name == "super" => Target::Module(self.modules[module].parent?),
                Target::Module(0) if self.macros.contains_key(name) => Target::Item(self.macros[name]),
                Target::Module(module) => {
                    self.find(module, name, depth).unwrap_or(Target::Item(self.modules[module].file))
                }
            };
        }
        Some(at)
    }

    fn arrows(&self) -> Arrows {
        let mut arrows = Arrows::new();
        for (module, m) in self.modules.iter().enumerate() {
            let used = |name: &String| m.private.contains(name) || m.words.contains(name);
            let imports = m.imports.iter().filter(|(name, _)| used(name)).map(|(_, path)| path.clone());
            let from_globs = m.words.iter().filter(|name| !m.imports.contains_key(*name));
            let from_globs = from_globs.map(|name| vec![name.clone()]);
            for path in imports.chain(from_globs).chain(m.paths.iter().cloned()) {
                if let Some(Target::Item(file)) = self.resolve(module, &path, 0)
                    && file != m.file
                {
                    arrows.entry((m.file, file)).or_insert_with(|| path.join("::"));
                }
            }
        }
        arrows
    }
}

/// Reads the tokens of one file.
struct Reader<'a> {
    all: &'a mut Crate,
    tokens: &'a [(usize, &'a str)],
    at: usize,
    /// Modules in other files: where declared, the name, the line.
    declared: Vec<(usize, String, usize)>,
}

impl Reader<'_> {
    fn word(&self, ahead: usize) -> &str {
        self.tokens.get(self.at + ahead).map_or("", |(_, word)| word)
    }

    /// Reads up to the end of `module`: the brace that closes it, or the file's end.
    fn module(&mut self, module: usize) {
        let mut depth = 0;
        let mut public = false;
        while self.at < self.tokens.len() {
            let word = self.word(0).to_owned();
            match word.as_str() {
                "#" => {
                    self.attribute();
                    continue;
                }
                "{" => depth += 1,
                "}" if depth == 0 => return,
                "}" => depth -= 1,
                "pub" => public = true,
                ";" => public = false,
                "use" if self.word(1) != "<" => {
                    self.at += 1;
                    self.import(module, Vec::new(), public);
                    public = false;
                    continue;
                }
                "mod" if is_name(self.word(1)) => {
                    self.inner(module);
                    continue;
                }
                "macro_rules" => {
                    let name = self.word(2).to_owned();
                    let file = self.all.modules[module].file;
                    self.all.modules[module].items.insert(name.clone());
                    self.all.macros.insert(name, file);
                }
                "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "union" if depth == 0 => {
                    let name = self.word(1).to_owned();
                    self.all.modules[module].items.insert(name);
                    public = false;
                }
                _ => {}
            }
            self.code(module, &word);
        }
    }

    /// A word or sign of the code, or a path.
    fn code(&mut self, module: usize, word: &str) {
        let field = self.at > 0 && self.tokens[self.at - 1].1 == "." && self.word(0) != ".";
        self.at += 1;
        if !is_name(word) || field {
            return;
        }
        let mut path = vec![word.to_owned()];
        while self.word(0) == ":" && self.word(1) == ":" && is_name(self.word(2)) {
            path.push(self.word(2).to_owned());
            self.at += 3;
        }
        let module = &mut self.all.modules[module];
        module.words.insert(word.to_owned());
        if path.len() > 1 {
            module.paths.insert(path);
        }
    }

    /// `mod name;` or `mod name { .. }`.
    fn inner(&mut self, module: usize) {
        let (line, name) = (self.tokens[self.at].0, self.word(1).to_owned());
        let in_place = self.word(2) == "{";
        self.at += 3;
        if !in_place {
            self.declared.push((module, name, line));
            return;
        }
        let inner = self.all.add(self.all.modules[module].file, Some(module));
        self.all.modules[module].children.insert(name, inner);
        self.module(inner);
        self.at += 1;
    }

    /// Reads one path of an import up to and including the sign after it, which it returns. `path` is the
    /// prefix before braces.
    fn import(&mut self, module: usize, mut path: Vec<String>, public: bool) -> String {
        let mut name = None;
        loop {
            let word = self.word(0).to_owned();
            self.at += 1;
            match word.as_str() {
                ":" => {}
                "{" => while self.import(module, path.clone(), public) == "," {},
                "*" => self.all.modules[module].globs.push(path.clone()),
                "as" => {
                    name = Some(self.word(0).to_owned());
                    self.at += 1;
                }
                "self" if !path.is_empty() => name = path.last().cloned(),
                word if is_name(word) => {
                    path.push(word.to_owned());
                    name = Some(word.to_owned());
                }
                // The sign after it, or the end of the file.
                _ => {
                    if let Some(name) = name {
                        let module = &mut self.all.modules[module];
                        if !public {
                            module.private.insert(name.clone());
                        }
                        module.imports.insert(name, path);
                    }
                    return word;
                }
            }
            if matches!(word.as_str(), "{" | "*") {
                name = None;
            }
        }
    }

    /// An attribute; if it marks an item as test-only, with the item.
    fn attribute(&mut self) {
        self.at += 1;
        if self.word(0) == "!" {
            self.at += 1;
        }
        let start = self.at;
        self.skip_group();
        let words: Vec<&str> = self.tokens[start..self.at].iter().map(|(_, word)| *word).collect();
        let for_tests = words.contains(&"cfg") && words.contains(&"test") && !words.contains(&"not");
        if !for_tests {
            return;
        }
        while self.word(0) == "#" {
            self.at += 1;
            self.skip_group();
        }
        let mut import = false;
        while self.at < self.tokens.len() {
            let word = self.word(0).to_owned();
            import |= word == "use";
            self.skip_group();
            if word == ";" || (word == "{" && !import) {
                return;
            }
        }
    }

    /// One token, or all from an opening bracket to the one that closes it.
    fn skip_group(&mut self) {
        let mut depth = 0;
        while self.at < self.tokens.len() {
            match self.word(0) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The graph of a crate `a` of these files, paths being below `a/src/`.
#[cfg(test)]
fn graph(files: &[(&str, &str)]) -> Graph {
    let text_of = |path: &str| {
        let file = files.iter().find(|(name, _)| path.strip_prefix("a/src/") == Some(name));
        file.map(|(_, text)| (*text).to_owned())
    };
    Graph::of("a/src/lib.rs", &text_of)
}

/// The arrows as `x > y`, paths being below `a/src/`.
#[cfg(test)]
fn arrows(files: &[(&str, &str)]) -> Vec<String> {
    let graph = graph(files);
    let name = |file: usize| graph.files[file].trim_start_matches("a/src/").trim_end_matches(".rs");
    graph.arrows.keys().map(|&(a, b)| format!("{} > {}", name(a), name(b))).collect()
}

#[test]
fn paths_lead_to_the_files_of_items() {
    let lib = "mod x; mod y; pub use y::inner::T; pub use y::g;";
    let y = ("y/mod.rs", "pub mod inner; pub use inner::*; pub fn g() {}");
    let inner = ("y/inner.rs", "pub struct T; pub mod deep { use super::super::g; pub fn f() { g() } }");
    for (x, wanted) in [
        ("use crate::T;", "x > y/inner"),
        ("use crate::{g, y};", "x > y/mod"),
        ("use crate::y::{self, inner::deep::{f as h}};", "x > y/inner"),
        ("fn f() { super::y::inner::deep::f() }", "x > y/inner"),
        ("use crate::y; fn f() { y::g() }", "x > y/mod"),
        ("use super::y::*; fn f(_: T) {}", "x > y/inner"),
        ("use std::fmt; pub use crate::T; fn f(_: T) {}", "x > y/inner"),
        ("pub mod z { fn f() { crate::g() } }", "x > y/mod"),
    ] {
        let found = arrows(&[("lib.rs", lib), ("x.rs", x), y, inner]);
        assert_eq!(found, [wanted, "y/inner > y/mod"], "{x}");
    }
}

#[test]
fn names_alone_are_no_arrows() {
    for x in [
        "pub use crate::y::T;",
        "use crate::y;",
        "use std::y::T;",
        "// crate::y::T",
        "fn f() { \"crate::y::T\"; a.y().T }",
        "#[cfg(test)] mod tests { use crate::y::T; }",
        "#[cfg(test)] mod tests;",
        "#[cfg(test)] use crate::{y::T};",
        "#[cfg(test)] fn f() -> crate::y::T { crate::y::T }",
    ] {
        let files = [
            ("lib.rs", "mod x; mod y;"),
            ("x.rs", x),
            ("y.rs", "pub struct T;"),
            ("x/tests.rs", "use crate::y::T;"),
        ];
        assert_eq!(arrows(&files), Vec::<String>::new(), "{x}");
    }
}

#[test]
fn circles_are_found_and_held_against_the_table() {
    let n = MAX_FILES + 1;
    let modules: String = (0..n).map(|i| format!("mod m{i};")).collect();
    let ring: Vec<(String, String)> = (0..n)
        .map(|i| (format!("m{i}.rs"), format!("use crate::m{}::T; pub struct T;", (i + 1) % n)))
        .collect();
    let mut files = vec![("lib.rs", modules.as_str())];
    files.extend(ring.iter().map(|(name, text)| (name.as_str(), text.as_str())));
    let large = graph(&files);
    assert!(large.summary().contains("1 circles, the largest of 7"), "{}", large.summary());
    assert_eq!(large.faults("a", &[]).len(), 1);
    assert_eq!(large.faults("a", &[("a", n, "a reason")]), Vec::<String>::new());
    assert_eq!(large.faults("a", &[("a", n + 1, "a reason")]).len(), 1, "the table says too much");
    files[1].1 = "pub struct T;";
    let line = graph(&files);
    assert_eq!(line.faults("a", &[]), Vec::<String>::new());
    assert_eq!(line.faults("a", &[("a", n, "a reason")]).len(), 1, "the entry is not needed");
}

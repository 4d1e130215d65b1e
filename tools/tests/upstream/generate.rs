//! Random programs: the same seed yields the same text.
//!
//! There are two kinds. [`Kind::Unknown`] has unregistered ops, with every builtin type, attribute and
//! location, nested regions, several blocks, symbols, aliases and resources. [`Kind::Known`] has `func`,
//! `arith`, `cf` and `scf` only and follows their rules: each op takes operands of the required types among
//! the visible values.

use std::fmt::Write as _;

use befrost_testing::dice::Dice;

/// The kind of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Unknown,
    Known,
}

/// The program of a kind and a seed, which upstream accepts.
pub(crate) fn program(kind: Kind, seed: u64) -> String {
    let mut generator = Generator {
        dice: Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
        out: String::new(),
        n_values: 0,
    };
    match kind {
        Kind::Unknown => generator.unknown_module(),
        // One in three has no control flow.
        Kind::Known => generator.known_module(if seed.is_multiple_of(3) { 0 } else { 2 }),
    }
    generator.out
}

/// The name and the type of a value.
type Value = (String, String);

struct Generator {
    dice: Dice,
    out: String,
    n_values: usize,
}

impl Generator {
    fn line(&mut self, depth: usize, text: &str) {
        _ = writeln!(self.out, "{:indent$}{text}", "", indent = depth * 2);
    }

    fn fresh(&mut self) -> String {
        self.n_values += 1;
        format!("%v{}", self.n_values)
    }

    fn list(&mut self, most: usize, mut item: impl FnMut(&mut Self) -> String) -> String {
        let n = self.dice.below(most + 1);
        (0..n).map(|_| item(self)).collect::<Vec<_>>().join(", ")
    }

    // Types, attributes and locations.

    fn scalar_type(&mut self) -> String {
        let width = 1 + self.dice.below(130);
        match self.dice.below(6) {
            0 => format!("i{width}"),
            1 => format!("si{width}"),
            2 => format!("ui{width}"),
            3 => "index".to_owned(),
            _ => {
                let floats = [
                    "bf16",
                    "f16",
                    "f32",
                    "f64",
                    "f80",
                    "f128",
                    "tf32",
                    "f8E5M2",
                    "f8E4M3FN",
                    "f8E5M2FNUZ",
                    "f8E4M3FNUZ",
                    "f8E4M3B11FNUZ",
                ];
                self.dice.pick(&floats).to_owned()
            }
        }
    }

    fn shape(&mut self, dynamic: bool) -> String {
        let n = self.dice.below(4);
        let size = |g: &mut Self| match g.dice.below(4) {
            0 if dynamic => "?x".to_owned(),
            _ => format!("{}x", 1 + g.dice.below(5)),
        };
        (0..n).map(|_| size(self)).collect()
    }

    fn any_type(&mut self, depth: usize) -> String {
        let kinds = if depth == 0 { 3 } else { 11 };
        match self.dice.below(kinds) {
            0 | 1 => self.scalar_type(),
            2 => self.dice.pick(&["none", "!d.t", "!d.t<a, [1]>", "!d.u<\"x\">", "!al"]).to_owned(),
            3 => format!("complex<{}>", self.dice.pick(&["f32", "f64", "i8", "bf16"])),
            4 => format!("tuple<{}>", self.list(3, |g| g.any_type(depth - 1))),
            5 => {
                let inputs = self.list(2, |g| g.any_type(depth - 1));
                let results = self.list(2, |g| g.any_type(depth - 1));
                format!("({inputs}) -> ({results})")
            }
            6 => {
                let elem = self.dice.pick(&["i1", "i32", "f32", "index", "bf16"]);
                let size = 1 + self.dice.below(8);
                let shapes =
                    [format!("{size}x"), format!("[{size}]x"), format!("2x[{size}]x"), String::new()];
                format!("vector<{}{elem}>", shapes[self.dice.below(4)])
            }
            7 => format!("tensor<*x{}>", self.scalar_type()),
            8 => {
                let encoding = if self.dice.below(3) == 0 { ", \"e\"" } else { "" };
                format!("tensor<{}{}{encoding}>", self.shape(true), self.scalar_type())
            }
            9 => {
                let layout =
                    self.dice.pick(&["", ", strided<[?], offset: 3>", ", affine_map<(d0) -> (d0 * 2)>"]);
                let space = self.dice.pick(&["", ", 1", ", \"gpu\"", ", {a}"]);
                format!("memref<?x{}{layout}{space}>", self.dice.pick(&["i32", "f32", "index"]))
            }
            _ => format!("memref<*x{}>", self.dice.pick(&["i32", "f64", "i1"])),
        }
    }

    fn string(&mut self) -> String {
        let texts = [
            "\"a\"",
            "\"\"",
            "\"with \\\"quotes\\\"\"",
            "\"line\\0Abreak \\\\ and tab\\09\"",
            "\"x.y$z\"",
            "\"\\FF\\00a\"",
        ];
        self.dice.pick(&texts).to_owned()
    }

    fn affine(&mut self) -> String {
        let all = [
            "affine_map<() -> ()>",
            "affine_map<(d0, d1)[s0] -> (d0 + s0, d1 mod 3, d0 floordiv 4 - d1 ceildiv 2)>",
            "affine_map<(d0) -> (d0 * -1)>",
            "affine_map<(d0, d1) -> (d1, d0)>",
            "affine_set<(d0)[s0] : (d0 - 1 >= 0, -d0 + s0 == 0)>",
            "affine_map<(d0)[s0, s1] -> ((d0 + s1) * 4 + s0 mod 5)>",
        ];
        self.dice.pick(&all).to_owned()
    }

    fn number(&mut self) -> String {
        match self.dice.below(8) {
            0 => format!("{} : i64", self.dice.below(1000)),
            1 => format!("-{} : i32", self.dice.below(1000)),
            2 => format!("{} : ui8", self.dice.below(256)),
            3 => format!("-{} : si7", 1 + self.dice.below(63)),
            4 => "170141183460469231731687303715884105727 : i128".to_owned(),
            5 => self
                .dice
                .pick(&["1.5 : f32", "-0.0 : f64", "1.0e30 : f64", "0.1 : f32", "3.14159274 : f32"])
                .to_owned(),
            6 => self
                .dice
                .pick(&["0x7FC00000 : f32", "0x7C00 : f16", "0xFF80 : bf16", "0x3C : f8E5M2"])
                .to_owned(),
            _ => format!("{} : index", self.dice.below(9)),
        }
    }

    fn elements(&mut self) -> String {
        let all = [
            "dense<1> : tensor<2x3xi32>",
            "dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>",
            "dense<[1.5, -2.0, 0x7FC00000]> : vector<3xf32>",
            "dense<[true, false]> : tensor<2xi1>",
            "dense<> : tensor<0xi32>",
            "dense<\"0x01000000020000000300000004000000\"> : tensor<4xi32>",
            "dense<[\"a\", \"b\"]> : tensor<2x!d.str>",
            "dense<[(1, 2), (3, 4)]> : tensor<2xcomplex<i32>>",
            "dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>",
            "dense<0x41> : tensor<2xf8E5M2>",
            "dense<-7> : tensor<1xsi5>",
            "dense<170141183460469231731687303715884105727> : tensor<2xi128>",
            "sparse<[[0, 0], [1, 2]], [1, 5]> : tensor<3x4xi32>",
            "sparse<0, 1.0> : tensor<1xf32>",
            "dense_resource<blob> : tensor<2xi64>",
            "dense_resource<blob_2> : tensor<2x2xf32>",
            "array<i32>",
            "array<i8: 1, -2, 127>",
            "array<i64: 10>",
            "array<f32: 1.0, 2.5>",
            "array<f64: -0.0>",
            "array<i1: true, false>",
        ];
        self.dice.pick(&all).to_owned()
    }

    fn attribute(&mut self, depth: usize) -> String {
        let kinds = if depth == 0 { 9 } else { 12 };
        match self.dice.below(kinds) {
            0 => self.dice.pick(&["true", "false", "unit"]).to_owned(),
            1 => self.number(),
            2 => self.string(),
            3 => self.dice.pick(&["@a", "@a::@b", "@\"odd name\"::@c::@d", "@f0"]).to_owned(),
            4 => self.elements(),
            5 => self.affine(),
            6 => self.dice.pick(&["#d.a", "#d.a<x, [1, \"]\"]>", "#at", "#d<odd thing>", "#map"]).to_owned(),
            7 => self
                .dice
                .pick(&[
                    "strided<[1, ?], offset: ?>",
                    "strided<[]>",
                    "\"typed\" : !d.str",
                    "loc(unknown)",
                    "distinct[3]<>",
                    "distinct[0]<1 : i32>",
                    "distinct[1]<[\"x\", distinct[3]<>]>",
                ])
                .to_owned(),
            8 => self.any_type(1),
            9 => format!("[{}]", self.list(3, |g| g.attribute(depth - 1))),
            10 => self.dictionary(depth - 1),
            _ => format!("loc({})", self.location(1)),
        }
    }

    fn dictionary(&mut self, depth: usize) -> String {
        let mut entries = Vec::new();
        for name in ["b", "a", "\"c d\"", "e.f", "u"] {
            if self.dice.below(3) == 0 {
                entries.push(match name {
                    "u" => name.to_owned(),
                    _ => format!("{name} = {}", self.attribute(depth)),
                });
            }
        }
        format!("{{{}}}", entries.join(", "))
    }

    fn location(&mut self, depth: usize) -> String {
        let kinds = if depth == 0 { 3 } else { 6 };
        match self.dice.below(kinds) {
            0 => "unknown".to_owned(),
            1 => format!("\"f.mlir\":{}:{}", self.dice.below(100), self.dice.below(100)),
            2 => self.string().replace("\\FF\\00", ""),
            3 => format!("\"name\"({})", self.location(depth - 1)),
            4 => format!("callsite({} at {})", self.location(depth - 1), self.location(depth - 1)),
            _ => {
                let metadata =
                    if self.dice.below(2) == 0 { format!("<{}>", self.number()) } else { String::new() };
                let first = self.location(depth - 1);
                format!("fused{metadata}[{first}, {}]", self.location(depth - 1))
            }
        }
    }

    fn trailing_location(&mut self) -> String {
        match self.dice.below(3) {
            0 => String::new(),
            1 => " loc(#l)".to_owned(),
            _ => format!(" loc({})", self.location(2)),
        }
    }

    // Unknown ops.

    fn unknown_module(&mut self) {
        self.line(0, "!al = tuple<i32, !d.t>");
        self.line(0, "#at = [1, \"x\"]");
        self.line(0, "#map = affine_map<(d0) -> (d0 + 1)>");
        for number in 0..1 + self.dice.below(3) {
            let inputs: Vec<String> = (0..self.dice.below(3)).map(|_| self.any_type(1)).collect();
            let values: Vec<Value> = inputs.iter().map(|ty| (self.fresh(), ty.clone())).collect();
            let arguments: Vec<String> = values.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
            self.line(0, "\"u.symbol\"() ({");
            self.line(0, &format!("^bb0({}):", arguments.join(", ")));
            self.unknown_body(1, &values, 2);
            self.line(0, &format!("}}) {{sym_name = \"f{number}\"}} : () -> ()"));
        }
        self.line(0, "#l = loc(\"alias\"(\"g\":1:2))");
        let blobs =
            format!("blob: \"0x0800000000000000000000010000000000000002\", blob_2: \"0x04000000{:032}\"", 0);
        self.line(0, &format!("{{-# dialect_resources: {{ builtin: {{ {blobs} }} }} #-}}"));
    }

    fn unknown_body(&mut self, depth: usize, known: &[Value], nesting: usize) {
        let mut known = known.to_vec();
        for _ in 0..1 + self.dice.below(4) {
            let n_operands = if known.is_empty() { 0 } else { self.dice.below(3) };
            let operands: Vec<Value> =
                (0..n_operands).map(|_| known[self.dice.below(known.len())].clone()).collect();
            let names: Vec<&str> = operands.iter().map(|(name, _)| name.as_str()).collect();
            let inputs: Vec<&str> = operands.iter().map(|(_, ty)| ty.as_str()).collect();
            let outputs: Vec<String> = (0..self.dice.below(3)).map(|_| self.any_type(2)).collect();
            let result = self.fresh();
            let head = match outputs.len() {
                0 => String::new(),
                1 => format!("{result} = "),
                n => format!("{result}:{n} = "),
            };
            let properties =
                if self.dice.below(4) == 0 { format!(" <{}>", self.dictionary(1)) } else { String::new() };
            let attributes = self.dictionary(2);
            let name = self.dice.pick(&["u.op", "u.nested.op", "v.x"]);
            let has_regions = nesting > 0 && self.dice.below(4) == 0;
            self.line(
                depth,
                &format!(
                    "{head}\"{name}\"({}){properties}{}",
                    names.join(", "),
                    if has_regions { " ({" } else { "" }
                ),
            );
            if has_regions {
                self.unknown_region(depth, &known, nesting - 1);
            }
            let location = self.trailing_location();
            let shown: Vec<String> = outputs.clone();
            self.line(
                depth,
                &format!(" {attributes} : ({}) -> ({}){location}", inputs.join(", "), shown.join(", ")),
            );
            let n_outputs = outputs.len();
            known.extend(outputs.into_iter().enumerate().map(|(i, ty)| match n_outputs {
                1 => (result.clone(), ty),
                _ => (format!("{result}#{i}"), ty),
            }));
        }
    }

    /// One or two regions, up to the closing parenthesis. The first has up to three blocks, the second is
    /// empty.
    fn unknown_region(&mut self, depth: usize, known: &[Value], nesting: usize) {
        let n_blocks = 1 + self.dice.below(3);
        let label = self.n_values;
        for block in 0..n_blocks {
            let argument = (self.fresh(), self.any_type(1));
            self.line(depth, &format!("^b{label}_{block}({}: {}):", argument.0, argument.1));
            let mut inside = known.to_vec();
            inside.push(argument);
            self.unknown_body(depth + 1, &inside, nesting);
            // No branch to the entry block, which may not have predecessors.
            let target = if n_blocks > 1 { 1 + self.dice.below(n_blocks - 1) } else { 0 };
            if target > 0 {
                self.line(depth + 1, &format!("\"u.br\"()[^b{label}_{target}] : () -> ()"));
            } else {
                self.line(depth + 1, "\"u.end\"() : () -> ()");
            }
        }
        if self.dice.below(3) == 0 {
            self.line(depth, "}, {");
        }
        self.line(depth, "})");
    }

    // Known ops.

    fn known_module(&mut self, nesting: usize) {
        let n_functions = 1 + self.dice.below(3);
        for number in 0..n_functions {
            let outputs = if number == 0 { vec!["i32"] } else { vec!["f32", "i32"] };
            let attributes = self.dice.pick(&["", "", " attributes {d.x = 1 : i32, d.y}"]);
            let visibility = if number == 0 { "" } else { self.dice.pick(&["", "private "]) };
            let shown =
                if outputs.len() == 1 { outputs[0].to_owned() } else { format!("({})", outputs.join(", ")) };
            self.line(0, &format!("func.func {visibility}@f{number}(%a: i32, %b: f32, %c: i1, %i: index) -> {shown}{attributes} {{"));
            let values: Vec<Value> = [("%a", "i32"), ("%b", "f32"), ("%c", "i1"), ("%i", "index")]
                .map(|(name, ty)| (name.to_owned(), ty.to_owned()))
                .to_vec();
            let mut known = self.known_body(1, &values, nesting, number);
            if nesting > 0 && self.dice.below(2) == 0 {
                known = self.known_blocks(&known, number);
            }
            let returned: Vec<String> = outputs.iter().map(|ty| self.of_type(&known, ty)).collect();
            self.line(1, &format!("return {} : {}", returned.join(", "), outputs.join(", ")));
            self.line(0, "}");
        }
        self.line(0, "func.func private @outer(i32, tensor<2x?xf32>) -> (f64, index)");
    }

    /// A branch to a block that joins, or to the join itself. The ops that follow are in the join block.
    /// Returns the values visible there.
    fn known_blocks(&mut self, known: &[Value], callees: usize) -> Vec<Value> {
        let condition = self.of_type(known, "i1");
        let (a, b) = (self.of_type(known, "i32"), self.of_type(known, "f32"));
        self.line(1, &format!("cf.cond_br {condition}, ^then({a} : i32), ^join({a}, {b} : i32, f32)"));
        let argument = self.fresh();
        self.line(0, &format!("^then({argument}: i32):"));
        let mut inside = known.to_vec();
        inside.push((argument, "i32".to_owned()));
        let inside = self.known_body(1, &inside, 1, callees);
        let (a, b) = (self.of_type(&inside, "i32"), self.of_type(&inside, "f32"));
        self.line(1, &format!("cf.br ^join({a}, {b} : i32, f32)"));
        let (x, y) = (self.fresh(), self.fresh());
        self.line(0, &format!("^join({x}: i32, {y}: f32):"));
        let mut after = known.to_vec();
        after.push((x, "i32".to_owned()));
        after.push((y, "f32".to_owned()));
        self.known_body(1, &after, 1, callees)
    }

    fn of_type(&mut self, known: &[Value], ty: &str) -> String {
        let fitting: Vec<&Value> = known.iter().filter(|(_, of)| of == ty).collect();
        fitting[self.dice.below(fitting.len())].0.clone()
    }

    fn known_body(&mut self, depth: usize, known: &[Value], nesting: usize, callees: usize) -> Vec<Value> {
        let mut known = known.to_vec();
        for _ in 0..2 + self.dice.below(5) {
            let defined = self.known_op(depth, &known, nesting, callees);
            known.extend(defined);
        }
        known
    }

    fn known_op(&mut self, depth: usize, known: &[Value], nesting: usize, callees: usize) -> Vec<Value> {
        let result = self.fresh();
        let int = [
            "arith.addi",
            "arith.subi",
            "arith.muli",
            "arith.andi",
            "arith.xori",
            "arith.divsi",
            "arith.shli",
            "arith.maxsi",
        ];
        let float = ["arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf"];
        let one = |ty: &str| vec![(result.clone(), ty.to_owned())];
        let kinds = if nesting == 0 { 9 } else { 13 };
        match self.dice.below(kinds) {
            0 => {
                let (ty, value) = *[
                    ("i32", "7 : i32"),
                    ("i32", "-3 : i32"),
                    ("i1", "true"),
                    ("index", "4 : index"),
                    ("f32", "1.5 : f32"),
                    ("f32", "0x7F800000 : f32"),
                ]
                .get(self.dice.below(6))
                .unwrap_or(&("i1", "false"));
                self.line(depth, &format!("{result} = arith.constant {value}"));
                one(ty)
            }
            1 | 2 => {
                let (a, b) = (self.of_type(known, "i32"), self.of_type(known, "i32"));
                let flags = self.dice.pick(&["", " overflow<nsw>", " overflow<nsw, nuw>"]);
                let name = self.dice.pick(&int);
                let flags =
                    if matches!(name, "arith.addi" | "arith.subi" | "arith.muli") { flags } else { "" };
                self.line(depth, &format!("{result} = {name} {a}, {b}{flags} : i32"));
                one("i32")
            }
            3 => {
                let (a, b) = (self.of_type(known, "f32"), self.of_type(known, "f32"));
                let flags = self.dice.pick(&["", " fastmath<fast>", " fastmath<nnan,contract>"]);
                let name = self.dice.pick(&float);
                self.line(depth, &format!("{result} = {name} {a}, {b}{flags} : f32"));
                one("f32")
            }
            4 => {
                let (a, b) = (self.of_type(known, "i32"), self.of_type(known, "i32"));
                let predicate = self.dice.pick(&["eq", "ne", "slt", "uge"]);
                self.line(depth, &format!("{result} = arith.cmpi {predicate}, {a}, {b} : i32"));
                one("i1")
            }
            5 => {
                let (a, b) = (self.of_type(known, "f32"), self.of_type(known, "f32"));
                let predicate = self.dice.pick(&["olt", "une", "ord", "true"]);
                self.line(depth, &format!("{result} = arith.cmpf {predicate}, {a}, {b} : f32"));
                one("i1")
            }
            6 => {
                let a = self.of_type(known, "i32");
                let (name, ty) =
                    [("arith.sitofp", "f32"), ("arith.index_cast", "index"), ("arith.trunci", "i1")]
                        [self.dice.below(3)];
                self.line(depth, &format!("{result} = {name} {a} : i32 to {ty}"));
                one(ty)
            }
            7 => {
                let c = self.of_type(known, "i1");
                let (a, b) = (self.of_type(known, "f32"), self.of_type(known, "f32"));
                self.line(depth, &format!("{result} = arith.select {c}, {a}, {b} : f32"));
                one("f32")
            }
            8 if callees > 0 => {
                let arguments = ["i32", "f32", "i1", "index"].map(|ty| self.of_type(known, ty)).join(", ");
                self.line(
                    depth,
                    &format!("{result} = func.call @f0({arguments}) : (i32, f32, i1, index) -> i32"),
                );
                one("i32")
            }
            8 => {
                let values = self.dice.pick(&["dense<[1, 2]> : tensor<2xi32>", "dense<0.0> : vector<4xf32>"]);
                self.line(depth, &format!("{result} = arith.constant {values}"));
                Vec::new()
            }
            9 => {
                let condition = self.of_type(known, "i1");
                self.line(depth, &format!("scf.if {condition} {{"));
                self.known_body(depth + 1, known, nesting - 1, callees);
                if self.dice.below(2) == 0 {
                    self.line(depth, "} else {");
                    self.known_body(depth + 1, known, nesting - 1, callees);
                }
                self.line(depth, "}");
                Vec::new()
            }
            10 => {
                let condition = self.of_type(known, "i1");
                self.line(depth, &format!("{result}:2 = scf.if {condition} -> (i32, f32) {{"));
                for end in ["} else {", "}"] {
                    let inside = self.known_body(depth + 1, known, nesting - 1, callees);
                    let (a, b) = (self.of_type(&inside, "i32"), self.of_type(&inside, "f32"));
                    self.line(depth + 1, &format!("scf.yield {a}, {b} : i32, f32"));
                    self.line(depth, end);
                }
                vec![(format!("{result}#0"), "i32".to_owned()), (format!("{result}#1"), "f32".to_owned())]
            }
            11 => self.known_for(depth, known, nesting, callees, &result),
            _ => {
                let start = self.of_type(known, "i32");
                let (before, after) = (self.fresh(), self.fresh());
                self.line(depth, &format!("{result} = scf.while ({before} = {start}) : (i32) -> i32 {{"));
                let mut inside = known.to_vec();
                inside.push((before, "i32".to_owned()));
                let inside = self.known_body(depth + 1, &inside, nesting - 1, callees);
                let (condition, value) = (self.of_type(&inside, "i1"), self.of_type(&inside, "i32"));
                self.line(depth + 1, &format!("scf.condition({condition}) {value} : i32"));
                self.line(depth, "} do {");
                self.line(depth, &format!("^bb0({after}: i32):"));
                let mut inside = known.to_vec();
                inside.push((after, "i32".to_owned()));
                let inside = self.known_body(depth + 1, &inside, nesting - 1, callees);
                let value = self.of_type(&inside, "i32");
                self.line(depth + 1, &format!("scf.yield {value} : i32"));
                self.line(depth, "}");
                one("i32")
            }
        }
    }

    fn known_for(
        &mut self,
        depth: usize,
        known: &[Value],
        nesting: usize,
        callees: usize,
        result: &str,
    ) -> Vec<Value> {
        let bounds: Vec<String> = (0..3).map(|_| self.of_type(known, "index")).collect();
        let counter = self.fresh();
        let head = format!("scf.for {counter} = {} to {} step {}", bounds[0], bounds[1], bounds[2]);
        let mut inside = known.to_vec();
        inside.push((counter, "index".to_owned()));
        if self.dice.below(2) == 0 {
            self.line(depth, &format!("{head} {{"));
            self.known_body(depth + 1, &inside, nesting - 1, callees);
            self.line(depth, "}");
            return Vec::new();
        }
        let carried = self.fresh();
        let start = self.of_type(known, "f32");
        self.line(depth, &format!("{result} = {head} iter_args({carried} = {start}) -> (f32) {{"));
        inside.push((carried, "f32".to_owned()));
        let inside = self.known_body(depth + 1, &inside, nesting - 1, callees);
        let value = self.of_type(&inside, "f32");
        self.line(depth + 1, &format!("scf.yield {value} : f32"));
        self.line(depth, "}");
        vec![(result.to_owned(), "f32".to_owned())]
    }
}

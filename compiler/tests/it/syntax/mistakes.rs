//! Tests with planted mistakes: each causes exactly one error, on its own line, independent of other
//! mistakes.

use befrost_compiler::syntax::*;
use befrost_compiler::verify::faults;

/// A line with one mistake, and the code of its error. `$` is a unique number in the program; `%i` is an
/// `i32`, `%f` an `f32`.
const MISTAKES: &[(&str, &str)] = &[
    // Characters and tokens.
    ("%m$ = tfrt.add.i32 %i, %i ;", "E0101"),
    ("%m$ = tfrt.add.i32 %i, ~%i", "E0101"),
    ("%m$ = \"u.x\"() {a = \"open} : () -> i32", "E0102"),
    ("\"u.x : () -> i32", "E0102"),
    ("%m$ = \"u.x\"() {a = @} : () -> i32", "E0103"),
    ("%m$ = tfrt.add.i32 %, %i", "E0104"),
    ("%m$ = \"u.x\"() {a = #d.x<(>} : () -> i32", "E0106"),
    ("%m$ = \"u.x\"() {a = \"\\q\"} : () -> i32", "E0109"),
    // Brackets.
    ("%m$ = \"tfrt.add.i32\"(%i, %i : (i32, i32) -> i32", "E0201"),
    ("%m$ = \"u.x\"() {a = [1, 2} : () -> i32", "E0201"),
    ("%m$ = \"u.x\"() {a = 1 : () -> i32", "E0201"),
    ("%m$ = \"u.x\"() : () -> (i32", "E0201"),
    ("%m$ = \"u.x\"() ({ \"u.y\"() : () -> () } : () -> i32", "E0201"),
    ("%m$ = tfrt.add.i32 %i, %i ]", "E0202"),
    ("%m$ = \"tfrt.add.i32\"(%i, %i)) : (i32, i32) -> i32", "E0202"),
    // Refused by the grammar.
    ("%m$ = \"tfrt.add.i32\"(%i, %i) (i32, i32) -> i32", "E0203"),
    ("%m$ = \"tfrt.add.i32\"(%i, %i)", "E0203"),
    ("%m$ = \"u.x\"() : () i32", "E0203"),
    ("%m$ = \"u.x\"() -> i32", "E0203"),
    ("%m$ = \"u.x\"() : i32", "E0203"),
    ("%m$ = \"tfrt.add.i32\"(%i %i) : (i32, i32) -> i32", "E0203"),
    ("%m$ = \"u.x\"() {a = } : () -> i32", "E0203"),
    ("%m$ = \"u.x\"() {a 1} : () -> i32", "E0203"),
    ("%m$ = \"u.x\"() {a = 1 b = 2} : () -> i32", "E0203"),
    ("%m$ = = tfrt.add.i32 %i, %i", "E0203"),
    ("%m$, = tfrt.add.i32 %i, %i", "E0203"),
    ("%m$ = \"u.x\"() : () -> tensor<2x>", "E0203"),
    // Refused by the form of the operation.
    ("%m$ = tfrt.add.i32 %i %i", "E0204"),
    ("%m$ = tfrt.add.i32 (%i, %i)", "E0204"),
    ("%m$ = tfrt.add.i32 %i, %i : i32", "E0204"),
    ("%m$ = tfrt.constant.i32", "E0204"),
    ("%m$ = tfrt.constant.i32 1 2", "E0204"),
    ("%m$ = tfrt.add.i32 %i,", "E0203"),
    ("%m$ = tfrt.add.i32 %i", "E0206"),
    ("%m$ = \"tfrt.add.i32\"(%i, %i) : (i32) -> i32", "E0206"),
    // Numbers, types and attributes.
    ("%m$ = tfrt.constant.i32 99999999999", "E0207"),
    ("%m$ = \"u.x\"() {a = 1.5 : i32} : () -> i32", "E0208"),
    ("%m$ = \"u.x\"() {a = array<i8: 300>} : () -> i32", "E0207"),
    ("%m$ = \"u.x\"(%i) : (i32x) -> i32", "E0209"),
    ("%m$ = \"u.x\"() : () -> vector<0xi32>", "E0210"),
    ("%m$ = \"u.x\"() {a = nonsense} : () -> i32", "E0211"),
    ("%m$ = \"u.x\"() {a = dense<[1, 2]> : tensor<3xi32>} : () -> i32", "E0212"),
    ("%m$ = tfrt.add.i32 %i, %i {a = 1, a = 2}", "E0213"),
    ("%m$ = \"u.x\"() {a = #nowhere} : () -> i32", "E0214"),
    ("%m$ = \"u.x\"() : () -> !nowhere", "E0214"),
    ("%m$ = \"u.x\"() : () -> i32 loc(nonsense)", "E0218"),
    // Names.
    ("%m$ = tfrt.ad.i32 %i, %i", "E0301"),
    ("tfrt.print.i32x %i, %c", "E0301"),
    ("%m$ = tfrt.add.i32 %undefined$, %i", "E0302"),
    ("%i = tfrt.constant.i32 1", "E0303"),
    ("%m$ = tfrt.add.i32 %i#3, %i", "E0304"),
    ("%m$ = tfrt.add.i32 %f, %i", "E0305"),
    ("\"u.x\"()[^nowhere$] : () -> ()", "E0306"),
    ("\"u.x\"() ({ ^a: \"u.y\"() : () -> () ^a: \"u.y\"() : () -> () }) : () -> ()", "E0307"),
    ("%m$:2 = tfrt.add.i32 %i, %i", "E0308"),
    ("%m$ = \"\"() : () -> i32", "E0309"),
];

/// The same for well-written but ill-formed programs.
const MALFORMED: &[(&str, &str)] = &[
    ("%m$ = \"tfrt.add.i32\"(%i) : (i32) -> i32", "E0401"),
    ("%m$ = \"tfrt.add.i32\"(%f, %i) : (f32, i32) -> i32", "E0402"),
    ("\"tfrt.add.i32\"(%i, %i) : (i32, i32) -> ()", "E0403"),
    ("%m$ = \"tfrt.add.i32\"(%i, %i) : (i32, i32) -> f32", "E0404"),
    ("%m$ = \"tfrt.constant.i32\"() : () -> i32", "E0405"),
    ("%m$ = \"tfrt.constant.i32\"() {value = \"x\"} : () -> i32", "E0406"),
    ("%m$ = \"tfrt.add.i32\"(%i, %i) ({}) : (i32, i32) -> i32", "E0407"),
    ("tfrt.return %i : i32", "E0410"),
    ("%m$ = tfrt.add.i32 %late, %i", "E0411"),
    ("%m$ = tfrt.call @nowhere(%i) : (i32) -> i32", "E0413"),
    ("%m$ = tfrt.call @f0(%f) : (f32) -> i32", "E0415"),
];

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// Plants `n` of the mistakes and compares the reported errors, as `line code`.
fn plant(mistakes: &[(&str, &str)], n: usize, seed: u64) -> Result<(), String> {
    let mut random = Random(seed);
    let mut lines: Vec<String> = Vec::new();
    // Possible lines for a mistake.
    let mut places = Vec::new();
    for f in 0..3 {
        lines.push(format!("func.func @f{f}(%i: i32, %f: f32, %c: !tfrt.chain) -> i32 {{"));
        for op in 0..n {
            lines.push(match random.below(4) {
                0 => format!("  %v{op} = tfrt.constant.i32 {op}"),
                1 => format!("  %v{op} = \"tfrt.add.i32\"(%i, %i) {{k = [1, \"x\"]}} : (i32, i32) -> i32"),
                2 => format!("  %v{op} = \"u.r\"() ({{\n  ^a(%x: i32):\n    \"u.y\"(%x) : (i32) -> ()\n  }}) : () -> i32"),
                _ => format!("  %v{op} = tfrt.add.i32 %i, %i // ] not a mistake"),
            });
            places.push(lines.len());
            lines.push(String::new());
        }
        lines.push("  %late = tfrt.constant.i32 0".into());
        lines.push("  tfrt.return %i : i32\n}".into());
    }
    let mut planted: Vec<&str> = Vec::new();
    for i in 0..n {
        let (line, code) = mistakes[random.below(mistakes.len())];
        let at = places.swap_remove(random.below(places.len()));
        lines[at] = format!("  {} // planted {code}", line.replace('$', &i.to_string()));
        planted.push(line);
    }
    let text = lines.join("\n");
    let want: Vec<String> = text
        .lines()
        .zip(1..)
        .filter_map(|(l, n)| Some(format!("{n} {}", l.split_once(" // planted ")?.1)))
        .collect();
    let r = parse("t", &text, &ParseOptions { allow_unregistered: true, ..ParseOptions::default() });
    let mut found = r.diagnostics;
    if let Some(m) = &r.module {
        found.extend(faults(m));
    }
    let found: Vec<String> = found
        .iter()
        .map(|d| format!("{} {}", d.span.map_or(0, |s| r.source.line_col(s.start).0), d.code))
        .collect();
    if found == want { Ok(()) } else { Err(format!("planted {want:?}\nfound   {found:?}\nin {planted:#?}")) }
}

#[track_caller]
fn check(outcomes: impl Iterator<Item = Result<(), String>>) {
    let wrong: Vec<String> = outcomes.filter_map(Result::err).take(20).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn each_mistake_alone() {
    check(MISTAKES.iter().chain(MALFORMED).map(|one| plant(&[*one], 1, 7)));
}

#[test]
fn ten_mistakes_give_ten_errors() {
    check((0..300).flat_map(|seed| [plant(MISTAKES, 10, seed), plant(MALFORMED, 10, seed)]));
}

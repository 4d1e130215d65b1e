//! Every program of `testdata/` that can be written as BEF comes back from it unchanged.

use std::collections::BTreeMap;

use bef_format::{AlignedBytes, validate};
use befrost_compiler::emit::{EmitOptions, Strip, emit};
use befrost_compiler::ir::Module;
use befrost_compiler::print::{PrintOptions, print};
use befrost_compiler::raise::raise;
use befrost_compiler::syntax::{ParseOptions, parse};
use befrost_compiler::verify::{Verified, verify};

use crate::files::programs;

/// A module's text in every form of printing.
fn printed(module: &Module) -> Vec<String> {
    let mut texts = Vec::new();
    for generic in [false, true] {
        for keep_names in [false, true] {
            for locations in [false, true] {
                texts.push(print(
                    module,
                    &PrintOptions { generic, keep_names, locations, ..PrintOptions::default() },
                ));
            }
        }
    }
    texts
}

fn raised(bytes: &[u8], name: &str) -> Verified {
    let bytes = AlignedBytes::copy_of(bytes);
    let image = validate(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    let module = raise(&image).unwrap_or_else(|said| panic!("{name}: {}", said[0].message));
    verify(module).unwrap_or_else(|said| panic!("{name}: what comes back is wrong: {}", said[0].message))
}

#[test]
fn every_program_comes_back_as_it_was() {
    let options = ParseOptions { allow_unregistered: true, ..ParseOptions::default() };
    let mut n_same = 0;
    let mut refused: BTreeMap<&str, u32> = BTreeMap::new();
    for (name, text) in programs() {
        let Some(module) = parse(&name, &text, &options).module else { continue };
        let Ok(module) = verify(module) else { continue };
        let full = EmitOptions { strip: Strip::Nothing, ..EmitOptions::default() };
        let bytes = match emit(&module, &full) {
            Ok(bytes) => bytes,
            Err(said) => {
                assert!(said.iter().all(|d| d.code.starts_with("E06")), "{name}: {}", said[0].message);
                *refused.entry(said[0].code).or_default() += 1;
                continue;
            }
        };
        assert!(bytes == emit(&module, &full).expect("as before"), "{name}: other bytes the second time");
        let again = parse(&name, &text, &options).module.expect("as before");
        let again = verify(again).expect("as before");
        assert!(bytes == emit(&again, &full).expect("as before"), "{name}: other bytes from the same text");
        let back = raised(&bytes, &name);
        for (was, is) in printed(&module).iter().zip(printed(&back)) {
            assert_eq!(*was, is, "{name}");
        }
        assert!(
            bytes == emit(&back, &full).expect("has a form"),
            "{name}: what comes back gives other bytes"
        );
        // A file without the optional sections is a program too, and a further round trip keeps its bytes.
        // The exception is attributes that request other streams: they are lost, and streams are assigned
        // anew.
        let stripped = EmitOptions { strip: Strip::Debug, ..EmitOptions::default() };
        let small = emit(&module, &stripped).expect("has a form");
        let back = raised(&small, &name);
        let again = emit(&back, &stripped).expect("has a form");
        assert!(small == again || text.contains("cost_threshold = "), "{name}: stripped");
        n_same += 1;
    }
    println!("{n_same} programs come back; without a form: {refused:?}");
    assert!(n_same > 25, "only {n_same} programs have a form");
}

//! Generates the parser from the grammar.

fn main() {
    println!("cargo::rerun-if-changed=src/syntax/grammar.lalrpop");
    if let Err(why) = lalrpop::Configuration::new().emit_rerun_directives(false).process_dir("src/syntax") {
        println!("cargo::error=the grammar is not accepted: {why}");
    }
}

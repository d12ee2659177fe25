//! Lengths of files and functions, tests left out.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::imports::for_tests;

/// Longest file and longest function, in lines, before they count as long.
const FILE_LINES: usize = 600;
const FUNCTION_LINES: usize = 60;

/// Returns the number of lines of a Rust source if it is too long. The tests at its end do not count.
pub fn of_file(text: &str) -> usize {
    let lines = text.lines().take_while(|line| !line.starts_with("#[cfg(test)]")).count();
    if lines > FILE_LINES { lines } else { 0 }
}

/// Counts the functions of a Rust source that are too long. A match that must name every row of a table
/// (`// exhaustive:`) is as long as the table.
pub fn long_functions(text: &str, file: &syn::File) -> usize {
    let mut counter = Counter { lines: text.lines().collect(), long: 0 };
    counter.visit_file(file);
    counter.long
}

struct Counter<'t> {
    lines: Vec<&'t str>,
    long: usize,
}

impl Counter<'_> {
    fn function(&mut self, block: &syn::Block) {
        let span = block.span();
        let long = span.end().line - span.start().line + 1 > FUNCTION_LINES;
        // The line above the one with the brace that opens the block; lines are numbered from 1.
        let above = span.start().line.checked_sub(2).and_then(|at| self.lines.get(at));
        if long && !above.is_some_and(|line| line.trim_start().starts_with("// exhaustive:")) {
            self.long += 1;
        }
    }
}

impl<'ast> Visit<'ast> for Counter<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        if !for_tests(&function.attrs) {
            self.function(&function.block);
            visit::visit_item_fn(self, function);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.function(&function.block);
        visit::visit_impl_item_fn(self, function);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> usize {
        long_functions(text, &syn::parse_file(text).expect("the source parses"))
    }

    #[test]
    fn long_functions_count_outside_of_tests() {
        let body = "    let _ = 1;\n".repeat(60);
        assert_eq!(count(&format!("fn a() {{\n{body}}}\n")), 1);
        assert_eq!(count(&format!("// exhaustive: infos\nfn a() {{\n{body}}}\n")), 0);
        assert_eq!(count(&format!("#[cfg(test)]\nmod tests {{\nfn a() {{\n{body}}}\n}}\n")), 0);
        assert_eq!(count("fn a() {\n    let _ = 1;\n}\n"), 0);
    }

    #[test]
    fn tests_at_the_end_do_not_make_a_file_long() {
        let code = "fn a() {}\n".repeat(600);
        assert_eq!(of_file(&code), 0);
        assert_eq!(of_file(&format!("{code}#[cfg(test)]\nmod tests {{}}\n")), 0);
        assert_eq!(of_file(&format!("{code}fn b() {{}}\n")), 601);
    }
}

//! Import graph of a crate: which file names items of which other file, tests and re-exports left out.
//!
//! Files are parsed with syn; names inside macro calls are read from their tokens. An import is followed
//! through `pub use` to the file that defines the item, so a facade ties nothing together.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree, Visibility};

use super::sources::{self, Source};

/// The path of a module from the crate's root; empty for the root itself.
type ModulePath = Vec<String>;

/// A file of a crate and the files that it imports, both as module paths such as `transfer::plan`.
pub type Graph = BTreeMap<String, BTreeSet<String>>;

/// The modules of a crate.
pub type Modules = BTreeSet<ModulePath>;

/// The modules of a crate, each with the names that its file uses.
pub type Imports = BTreeMap<ModulePath, Vec<Import>>;

/// Builds the import graph of the crate whose sources lie below `folder` (`crates/net/src`).
pub fn graph(folder: &str) -> Result<Graph, String> {
    let sources = sources::below(folder);
    let modules = modules(folder, sources.iter().map(|source| source.path.as_str()));
    let mut imports = Imports::new();
    for Source { path, text } in &sources {
        if let Some(module) = module_of(folder, path) {
            let file = syn::parse_file(text).map_err(|error| format!("{path}: {error}"))?;
            imports.insert(module.clone(), of_file(&file, module, &modules));
        }
    }
    Ok(graph_of(&imports))
}

/// Returns the modules of the crate whose sources lie below `folder`.
pub fn modules<'p>(folder: &str, paths: impl Iterator<Item = &'p str>) -> Modules {
    paths.filter_map(|path| module_of(folder, path)).collect()
}

/// Returns the names that a file uses.
pub fn of_file(file: &syn::File, module: ModulePath, modules: &Modules) -> Vec<Import> {
    let mut reader = Reader { here: module, modules, found: Vec::new() };
    reader.visit_file(file);
    reader.found
}

/// Returns the module that a file (`crates/net/src/pool/mod.rs`) holds, by the folder of its crate's sources
/// (`crates/net/src`); none for tests, binaries and other files.
pub fn module_of(folder: &str, path: &str) -> Option<ModulePath> {
    let file = path.strip_prefix(folder)?.strip_prefix('/')?;
    let mut parts: ModulePath = file.strip_suffix(".rs")?.split('/').map(str::to_owned).collect();
    if parts.iter().any(|part| part == "bin" || part == "tests" || part == "test" || part.ends_with("_tests"))
    {
        return None;
    }
    match parts.last().map(String::as_str) {
        Some("lib" | "main") if parts.len() == 1 => parts.clear(),
        Some("mod") => drop(parts.pop()),
        _ => {}
    }
    Some(parts)
}

/// Builds the import graph of a crate.
pub fn graph_of(imports: &Imports) -> Graph {
    let mut graph = Graph::new();
    for (module, found) in imports {
        let targets = graph.entry(module.join("::")).or_default();
        for import in found {
            let target = definition(&import.path, imports, 0);
            let facade = import.public && target.len() > module.len() && target.starts_with(module);
            if target != *module && !facade {
                targets.insert(target.join("::"));
            }
        }
    }
    graph
}

/// Returns the module that defines the item at `path`, following re-exports.
fn definition(path: &[String], imports: &Imports, depth: usize) -> ModulePath {
    let known = (0..=path.len()).rev().find(|&len| imports.contains_key(&path[..len])).unwrap_or(0);
    let module = &path[..known];
    // A chain of re-exports longer than this is not written by people.
    if let (Some(name), true) = (path.get(known), depth < 6) {
        let exports = imports.get(module).into_iter().flatten();
        if let Some(export) = exports.filter(|import| import.public).find(|import| import.name == *name) {
            let next = [&export.path[..], &path[known + 1..]].concat();
            if next != path {
                return definition(&next, imports, depth + 1);
            }
        }
    }
    module.to_vec()
}

/// A name that a file uses, as a path from the crate's root.
pub struct Import {
    path: ModulePath,
    /// The name by which the file knows the item.
    name: String,
    /// The item is re-exported.
    public: bool,
}

/// Collects the imports of one file.
struct Reader<'a> {
    /// The module that is being read: the file's own, or an inline one within it.
    here: ModulePath,
    modules: &'a Modules,
    found: Vec<Import>,
}

impl Reader<'_> {
    /// Returns the path from the root of the crate; none for names of other crates and of the file itself.
    fn absolute(&self, segments: &[String]) -> Option<ModulePath> {
        let mut here = self.here.clone();
        let rest = match segments.first()?.as_str() {
            "crate" => return Some(segments[1..].to_vec()),
            "self" => &segments[1..],
            "super" => {
                let up = segments.iter().take_while(|segment| *segment == "super").count();
                here.truncate(here.len().saturating_sub(up));
                &segments[up..]
            }
            child => {
                let mut module = here.clone();
                module.push(child.to_owned());
                if !self.modules.contains(&module) {
                    return None;
                }
                segments
            }
        };
        here.extend_from_slice(rest);
        Some(here)
    }

    fn add(&mut self, segments: &[String], name: String, public: bool) {
        if let Some(mut path) = self.absolute(segments) {
            if path.last().is_some_and(|last| last == "self" || last == "*") {
                path.pop();
            }
            self.found.push(Import { path, name, public });
        }
    }

    fn use_tree(&mut self, tree: &UseTree, prefix: &mut Vec<String>, public: bool) {
        let leaf = |prefix: &[String], last: String| [prefix, &[last]].concat();
        match tree {
            UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                self.use_tree(&path.tree, prefix, public);
                prefix.pop();
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.use_tree(tree, prefix, public)),
            UseTree::Name(name) => {
                let name = name.ident.to_string();
                self.add(&leaf(prefix, name.clone()), name, public);
            }
            UseTree::Rename(rename) => {
                self.add(&leaf(prefix, rename.ident.to_string()), rename.rename.to_string(), public);
            }
            UseTree::Glob(_) => self.add(&leaf(prefix, "*".to_owned()), "*".to_owned(), public),
        }
    }

    /// Reads paths such as `crate::a::b` out of the tokens of a macro call.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.path(&path);
                        path.clear();
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    self.path(&std::mem::take(&mut path));
                    self.tokens(group.stream());
                }
                _ => {
                    self.path(&std::mem::take(&mut path));
                    colons = 0;
                }
            }
        }
        self.path(&path);
    }

    fn path(&mut self, segments: &[String]) {
        if segments.len() > 1 {
            self.add(segments, String::new(), false);
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if for_tests(attributes(item)) {
            return;
        }
        match item {
            Item::Use(item) => {
                let public = !matches!(item.vis, Visibility::Inherited);
                self.use_tree(&item.tree, &mut Vec::new(), public);
            }
            Item::Mod(module) if module.content.is_some() => {
                self.here.push(module.ident.to_string());
                visit::visit_item_mod(self, module);
                self.here.pop();
            }
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !for_tests(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.path(&segments);
        visit::visit_path(self, path);
    }

    fn visit_visibility(&mut self, _: &'ast Visibility) {
        // `pub(in crate::a)` names no item.
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.tokens(call.tokens.clone());
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether an item is compiled only for tests: `cfg(test)`, also within `all` and `any`.
pub fn for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.meta.require_list().is_ok_and(|list| mentions_test(list.tokens.clone()))
    })
}

/// Whether the condition names `test` outside of `not(...)`.
fn mentions_test(tokens: TokenStream) -> bool {
    let mut negated = false;
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => {
            negated = ident == "not";
            ident == "test"
        }
        TokenTree::Group(group) => !std::mem::take(&mut negated) && mentions_test(group.stream()),
        _ => false,
    })
}

/// Returns the sets of files that import each other, the largest first; a file in no circle is in none of
/// them.
pub fn circles(graph: &Graph) -> Vec<Vec<&str>> {
    let reachable: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|file| (file.as_str(), reachable_from(file, graph))).collect();
    let mut circles: Vec<Vec<&str>> = Vec::new();
    let mut placed = BTreeSet::new();
    for (file, targets) in &reachable {
        if !placed.contains(file) && targets.contains(file) {
            let circle: Vec<&str> = targets
                .iter()
                .copied()
                .filter(|other| reachable.get(other).is_some_and(|back| back.contains(file)))
                .collect();
            placed.extend(circle.iter().copied());
            circles.push(circle);
        }
    }
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    circles
}

fn reachable_from<'a>(file: &str, graph: &'a Graph) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&str> = graph.get(file).into_iter().flatten().map(String::as_str).collect();
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(graph.get(next).into_iter().flatten().map(String::as_str));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(files: &[(&str, &str)]) -> Graph {
        let modules = modules("src", files.iter().map(|(path, _)| *path));
        let imports = files.iter().filter_map(|(path, text)| {
            let (module, file) = (module_of("src", path)?, syn::parse_file(text).expect("the sources parse"));
            Some((module.clone(), of_file(&file, module, &modules)))
        });
        graph_of(&imports.collect())
    }

    fn targets<'a>(graph: &'a Graph, file: &str) -> Vec<&'a str> {
        graph[file].iter().map(String::as_str).collect()
    }

    #[test]
    fn imports_are_followed_to_the_file_that_defines_the_item() {
        let graph = graph(&[
            ("src/lib.rs", "mod a; mod b; mod c;"),
            ("src/a.rs", "use crate::b::Thing;"),
            ("src/b/mod.rs", "mod inner; pub use inner::Thing;"),
            ("src/b/inner.rs", "pub struct Thing; fn f() -> crate::c::Other { todo!() }"),
            ("src/c.rs", "pub struct Other; fn g() { super::a::run(); assert!(crate::b::inner::check()) }"),
        ]);
        assert_eq!(targets(&graph, "a"), ["b::inner"]);
        assert_eq!(targets(&graph, "b"), [""; 0], "a facade's own re-export is no import");
        assert_eq!(targets(&graph, "b::inner"), ["c"]);
        assert_eq!(targets(&graph, "c"), ["a", "b::inner"], "paths in code and in macro calls count");
    }

    #[test]
    fn tests_and_other_crates_do_not_count() {
        let graph = graph(&[
            ("src/lib.rs", "mod a; mod b;"),
            (
                "src/a.rs",
                "use std::b::C; #[cfg(test)] use crate::b::C; #[cfg(test)] mod tests { use crate::b::C; }",
            ),
            (
                "src/b.rs",
                "#[cfg(not(test))] use crate::a::C; #[cfg(all(test, unix))] fn f() { crate::a::g() }",
            ),
            ("src/tests/c.rs", "use crate::a::C;"),
        ]);
        assert_eq!(targets(&graph, "a"), [""; 0]);
        assert_eq!(targets(&graph, "b"), ["a"]);
        assert_eq!(graph.len(), 3);
    }

    #[test]
    fn circles_are_sets_of_files_that_reach_each_other() {
        let graph = graph(&[
            ("src/lib.rs", "use a::A;"),
            ("src/a.rs", "use crate::b::B;"),
            ("src/b.rs", "use crate::c::C;"),
            ("src/c.rs", "use crate::a::A; use crate::d::D;"),
            ("src/d.rs", "use crate::e::E;"),
            ("src/e.rs", "use super::d::D;"),
        ]);
        assert_eq!(circles(&graph), [vec!["a", "b", "c"], vec!["d", "e"]]);
    }
}

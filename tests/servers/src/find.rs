//! Where a server's programs are.

use std::{
    env, fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use crate::Error;

/// What to look for.
pub(crate) struct Search {
    /// The server's name, for people.
    pub(crate) server: &'static str,
    /// All of these must be in one folder. The first one's real folder counts if it has the others,
    /// too, since a link's folder may lack what the server needs besides.
    pub(crate) programs: &'static [&'static str],
    /// The environment variable that names the folder. Where it is set, nothing else is looked at.
    pub(crate) variable: &'static str,
    /// Folders to look at after `PATH`. A `*` stands for any part of a name; the highest version
    /// comes first.
    pub(crate) folders: &'static [&'static str],
    /// What to install.
    pub(crate) install: &'static str,
}

impl Search {
    /// The folder of the programs.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] where they aren't found, [`Error::Failed`] where the variable is wrong.
    pub(crate) fn run(&self) -> Result<PathBuf, Error> {
        self.run_with(
            env::var_os(self.variable).map(PathBuf::from),
            env::var_os("PATH")
                .iter()
                .flat_map(env::split_paths)
                .chain(self.folders.iter().copied().flat_map(expand)),
        )
    }

    fn run_with(
        &self,
        named: Option<PathBuf>,
        others: impl Iterator<Item = PathBuf>,
    ) -> Result<PathBuf, Error> {
        if let Some(named) = named {
            return self.real(&named).ok_or_else(|| {
                Error::Failed(format!(
                    "{} is {}, which doesn't have {}",
                    self.variable,
                    named.display(),
                    self.programs.join(" and ")
                ))
            });
        }
        others
            .filter_map(|folder| self.real(&folder))
            .next()
            .ok_or_else(|| {
                Error::Missing(format!(
                    "{server} is not installed: no folder with {programs} on PATH or in {folders}.\n\
                     Install it ({install}), or set {variable} to the folder of its programs.",
                    server = self.server,
                    programs = self.programs.join(" and "),
                    folders = self.folders.join(", "),
                    install = self.install,
                    variable = self.variable,
                ))
            })
    }

    fn real(&self, folder: &Path) -> Option<PathBuf> {
        // An empty part of PATH means the current folder, where nobody keeps a server.
        if folder.as_os_str().is_empty() || !self.has_all(folder) {
            return None;
        }
        let target = fs::canonicalize(folder.join(self.programs.first()?)).ok()?;
        let parent = target.parent()?.to_owned();
        if self.has_all(&parent) {
            return Some(parent);
        }
        fs::canonicalize(folder).ok()
    }

    fn has_all(&self, folder: &Path) -> bool {
        self.programs.iter().all(|program| {
            fs::metadata(folder.join(program))
                .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
        })
    }
}

/// The paths that a pattern with at most one `*` in each name stands for, the highest version first.
fn expand(pattern: &str) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::from("/")];
    for name in pattern.split('/').filter(|name| !name.is_empty()) {
        found = match name.split_once('*') {
            None => found.iter().map(|folder| folder.join(name)).collect(),
            Some((start, end)) => found
                .iter()
                .filter_map(|folder| fs::read_dir(folder).ok())
                .flatten()
                .filter_map(Result::ok)
                .filter(|entry| {
                    entry.file_name().to_str().is_some_and(|name| {
                        name.strip_prefix(start)
                            .is_some_and(|rest| rest.ends_with(end))
                    })
                })
                .map(|entry| entry.path())
                .collect(),
        };
    }
    found.sort();
    found.sort_by_key(|path| std::cmp::Reverse(numbers(path)));
    found
}

/// The whole numbers in a path, which are what orders versions.
fn numbers(path: &Path) -> Vec<u64> {
    path.to_string_lossy()
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|digits| digits.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::{iter, os::unix::fs::symlink};

    use super::*;

    const SEARCH: Search = Search {
        server: "Thing",
        programs: &["thing", "thing-init"],
        variable: "THING_BIN",
        folders: &["/nowhere/*/bin"],
        install: "Debian: `apt-get install thing`",
    };

    fn program(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn both(folder: &Path) {
        program(&folder.join("thing"));
        program(&folder.join("thing-init"));
    }

    fn root() -> (tempfile::TempDir, PathBuf) {
        let guard = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(guard.path()).unwrap();
        (guard, path)
    }

    #[test]
    fn the_first_folder_with_all_programs_is_found() {
        let (_guard, root) = root();
        program(&root.join("a/thing"));
        both(&root.join("b"));
        fs::set_permissions(root.join("b/thing"), fs::Permissions::from_mode(0o644)).unwrap();
        both(&root.join("c"));
        both(&root.join("d"));
        let folders = ["", "a", "b", "c", "d"].map(|name| root.join(name));
        let found = SEARCH.run_with(None, folders.into_iter()).unwrap();
        assert_eq!(found, root.join("c"));
    }

    #[test]
    fn links_are_followed_to_the_real_folder() {
        let (_guard, root) = root();
        both(&root.join("real"));
        fs::create_dir(root.join("links")).unwrap();
        for name in SEARCH.programs {
            symlink(root.join("real").join(name), root.join("links").join(name)).unwrap();
        }
        let found = SEARCH
            .run_with(None, iter::once(root.join("links")))
            .unwrap();
        assert_eq!(found, root.join("real"));
    }

    #[test]
    fn the_variable_comes_first_and_is_never_ignored() {
        let (_guard, root) = root();
        both(&root.join("a"));
        both(&root.join("b"));
        let others = || iter::once(root.join("a"));
        let found = SEARCH.run_with(Some(root.join("b")), others()).unwrap();
        assert_eq!(found, root.join("b"));
        let error = SEARCH.run_with(Some(root.join("c")), others()).unwrap_err();
        assert!(matches!(&error, Error::Failed(text) if text.contains("THING_BIN")));
    }

    #[test]
    fn what_is_missing_says_what_to_install_and_to_set() {
        let error = SEARCH.run_with(None, iter::empty()).unwrap_err();
        let Error::Missing(text) = &error else {
            panic!("{error:?}")
        };
        assert!(text.contains("apt-get install thing"), "{text}");
        assert!(text.contains("THING_BIN"), "{text}");
    }

    #[test]
    fn a_star_finds_the_highest_version_first() {
        let (_guard, root) = root();
        for name in ["thing@9", "thing@16", "thing", "other@17"] {
            fs::create_dir_all(root.join(name).join("bin")).unwrap();
        }
        let found = expand(root.join("thing*/bin").to_str().unwrap());
        let expected = ["thing@16/bin", "thing@9/bin", "thing/bin"].map(|path| root.join(path));
        // The folder's own name may have digits, which are the same for all.
        assert_eq!(found, expected);
    }
}

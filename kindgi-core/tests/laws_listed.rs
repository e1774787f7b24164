//! Which laws there are is said in three ways: the list `LAWS`, the tests that the macro stamps,
//! and the changelog `LAWS.md`. They agree, suite by suite, in names and number.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

use kindgi_core::conformance::{self, archive, host, idempotency, rate_limit};

/// A suite: its list, how many laws it has, the module below that it is stamped in, and its
/// heading in the changelog.
type Suite = (&'static [&'static str], usize, &'static str, &'static str);

const SUITES: [Suite; 5] = [
    (conformance::LAWS, 46, "stores", "`conformance`"),
    (idempotency::LAWS, 12, "keys", "`conformance::idempotency`"),
    (archive::LAWS, 7, "archives", "`conformance::archive`"),
    (
        rate_limit::LAWS,
        10,
        "limiters",
        "`conformance::rate_limit`",
    ),
    (host::LAWS, 12, "hosts", "`conformance::host`"),
];

const CHANGELOG: &str = include_str!("../LAWS.md");

/// The suites, stamped to be listed: each test of a law ends before it begins.
mod stamped {
    macro_rules! nothing {
        ($Nothing:ident: $($trait:ident)::*, ($($clock:ty)?) -> $built:ty, $($limit:item)*) => {
            struct $Nothing;

            impl kindgi_core::conformance::$($trait)::* for $Nothing {
                type Guard = ();

                async fn build(
                    &self,
                    $(_: $clock,)?
                ) -> Result<((), $built), kindgi_core::BoxError> {
                    Err("only to be listed".into())
                }

                $($limit)*
            }
        };
    }

    /// What the macro is given: it leaves the test of a law at once.
    macro_rules! leave {
        ($Nothing:ident) => {{
            if true {
                return Ok(());
            }
            $Nothing
        }};
    }

    mod stores {
        use std::sync::Arc;

        use kindgi_core::{BoxError, store::Store};

        nothing!(
            Nothing: Backend,
            () -> Arc<dyn Store>,
            async fn reopen(&self, _: &mut (), _: Arc<dyn Store>) -> Result<Arc<dyn Store>, BoxError> {
                Err("only to be listed".into())
            }
        );
        kindgi_core::conformance::laws!(leave!(Nothing));
    }

    mod keys {
        use std::sync::Arc;

        use kindgi_core::{ManualClock, idempotency::IdempotencyStore};

        nothing!(
            Nothing: idempotency::KeyBackend,
            (Arc<ManualClock>) -> Arc<dyn IdempotencyStore>,
        );
        kindgi_core::conformance::idempotency::laws!(leave!(Nothing));
    }

    mod archives {
        use kindgi_core::conformance::archive::House;

        nothing!(Nothing: archive::ArchiveBackend, () -> House,);
        kindgi_core::conformance::archive::laws!(leave!(Nothing));
    }

    mod limiters {
        use std::sync::Arc;

        use kindgi_core::{ManualClock, conformance::rate_limit::Limit, rate_limit::RateLimiter};

        nothing!(
            Nothing: rate_limit::LimitBackend,
            (Arc<ManualClock>) -> Arc<dyn RateLimiter>,
            fn limit(&self) -> Limit {
                Limit::new(std::num::NonZeroU32::MIN, std::time::Duration::MAX)
            }
        );
        kindgi_core::conformance::rate_limit::laws!(leave!(Nothing));
    }

    mod hosts {
        use kindgi_core::conformance::host::Host;

        nothing!(Nothing: host::HostUnderTest, () -> Host,);
        kindgi_core::conformance::host::laws!(leave!(Nothing));
    }
}

#[test]
fn each_suite_has_so_many_laws_of_different_names() {
    for (laws, number, suite, _) in SUITES {
        let names: BTreeSet<&&str> = laws.iter().collect();
        assert_eq!((laws.len(), names.len()), (number, number), "{suite}");
    }
}

#[test]
fn a_test_is_stamped_for_each_law_and_one_more() {
    let this = std::env::current_exe().unwrap();
    let listed = Command::new(this).arg("--list").output().unwrap();
    assert!(listed.status.success());
    let listed = String::from_utf8(listed.stdout).unwrap();
    for (laws, number, suite, _) in SUITES {
        let module = format!("stamped::{suite}::");
        let tests = listed.lines().filter_map(|line| {
            let name = line.strip_prefix(&module)?;
            Some(name.strip_suffix(": test").expect(line))
        });
        let tests: Vec<&str> = tests.collect();
        assert_eq!(tests.len(), number + 1, "{suite}");
        let tests: BTreeSet<&str> = tests.into_iter().collect();
        let laws = laws.iter().copied().chain(["all_laws_are_here"]);
        assert_eq!(tests, laws.collect(), "{suite}");
    }
}

#[test]
fn the_test_that_all_are_here_fails_for_one_less_one_more_and_another() {
    let laws = conformance::LAWS;
    let check = |stamped: &[&str], number| conformance::all_laws_are_here(stamped, laws, number);
    assert!(check(laws, 46).is_ok());
    let mut more = laws.to_vec();
    more.push("another");
    let mut renamed = laws.to_vec();
    renamed[0] = "another";
    for (stamped, number) in [(&laws[1..], 46), (&more, 46), (&renamed, 46), (laws, 45)] {
        let failed = check(stamped, number).unwrap_err();
        assert_eq!(failed.law(), "all_laws_are_here");
    }
}

/// The laws that are left when all entries are followed, by heading, with the last version.
fn changelog() -> (u32, BTreeMap<&'static str, BTreeSet<&'static str>>) {
    let mut versions: Vec<(u32, &str)> = Vec::new();
    for version in CHANGELOG.split("\n## Version ").skip(1) {
        let (number, text) = version.split_once('\n').unwrap();
        versions.push((number.trim().parse().unwrap(), text));
    }
    // The newest may stand first.
    versions.sort_by_key(|(number, _)| *number);
    let numbers: Vec<u32> = versions.iter().map(|(number, _)| *number).collect();
    let last = u32::try_from(numbers.len()).unwrap();
    assert_eq!(numbers, (1..=last).collect::<Vec<u32>>());

    let mut laws: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (number, text) in versions {
        let mut suite = None;
        for line in text.lines() {
            if let Some(heading) = line.strip_prefix("### ") {
                let (_, name) = heading.split_once(": ").expect(line);
                suite = Some(laws.entry(name).or_default());
            } else if let Some(entry) = line.strip_prefix("- ") {
                let mut parts = entry.splitn(3, '`');
                let (what, law, promise) = (parts.next(), parts.next(), parts.next());
                let promise = promise
                    .and_then(|text| text.strip_prefix(": "))
                    .expect(line);
                assert!(promise.len() > 10 && promise.ends_with('.'), "{line}");
                let (law, suite) = (law.expect(line), suite.as_mut().expect(line));
                let fits = match what.expect(line) {
                    "added " => suite.insert(law),
                    "stricter " | "weaker " => number > 1 && suite.contains(law),
                    "removed " => suite.remove(law),
                    _ => false,
                };
                assert!(fits, "version {number}: {line}");
            }
        }
    }
    (last, laws)
}

#[test]
fn the_changelog_has_an_entry_for_each_law_and_the_version() {
    let (version, entries) = changelog();
    assert_eq!(version, conformance::VERSION);
    assert_eq!(entries.len(), SUITES.len());
    for (laws, number, suite, heading) in SUITES {
        let entries = entries.get(heading).expect(heading);
        assert_eq!(entries.len(), number, "{suite}");
        assert_eq!(*entries, laws.iter().copied().collect(), "{suite}");
    }
}

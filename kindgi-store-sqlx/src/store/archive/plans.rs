//! Each page of an export is a range of an index.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::num::NonZeroU16;

use kindgi_core::store::archive::{ArchivePart, RecordId};

use super::rows::{Which, select};
use crate::store::{
    Tables,
    plans::{plan, pool},
};

#[tokio::test]
async fn every_page_is_a_range_of_an_index() {
    let (_folder, pool) = pool().await;
    let tables = Tables::new("kindgi_");
    let limit = NonZeroU16::MIN;
    for (part, index, key) in [
        (ArchivePart::Classes, "classes_id", "(tenant,id)>(?,?)"),
        (
            ArchivePart::RuleVersions,
            "rule_versions_version",
            "(tenant,rule,version)>(?,?,?)",
        ),
        (
            ArchivePart::Rules,
            "project_rules_project",
            "(tenant,project)>(?,?)",
        ),
        (ArchivePart::Runs, "runs_run", "(tenant,run)>(?,?)"),
        (ArchivePart::Judgments, "judgments_id", "(tenant,id)>(?,?)"),
        (ArchivePart::Tellings, "tellings_run", "(tenant,run)>(?,?)"),
        (ArchivePart::Purges, "purges_tenant", "tenant>?"),
        (
            ArchivePart::Operations,
            "operations_id",
            "(tenant,id)>(?,?)",
        ),
    ] {
        let after = RecordId {
            part,
            tenant: "acme".parse().unwrap(),
            id: "id".into(),
            version: 1,
        };
        let first = plan(
            &pool,
            &select(&tables, part, Which::Page { after: None, limit }),
        )
        .await;
        let after = Some(&after);
        let later = plan(&pool, &select(&tables, part, Which::Page { after, limit })).await;
        let by = format!("kindgi_{index}");
        assert!(first.contains(&format!("INDEX {by}")), "{part:?}: {first}");
        let range = format!("INDEX {by} ({key})");
        assert!(later.contains(&range), "{part:?}: {later}");
        // What several rules say of a run may be put in order, but not all runs.
        let sorts = later.contains("TEMP B-TREE");
        assert_eq!(sorts, part == ArchivePart::Tellings, "{part:?}: {later}");
        assert!(!later.contains("SCAN kindgi"), "{part:?}: {later}");
    }
}

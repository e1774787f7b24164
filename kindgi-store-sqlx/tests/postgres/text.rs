//! Texts compare bytewise, however the database compares.

use std::sync::Arc;

use kindgi_core::{
    BoxError,
    conformance::{self, Backend},
    store::Store,
};
use kindgi_test_servers::Postgres;

use super::support::{builder, cell, query, url};

/// A store in a database that compares as people do.
struct AsPeopleDo {
    url: String,
}

impl Backend for AsPeopleDo {
    type Guard = ();

    async fn build(&self) -> Result<(Self::Guard, Arc<dyn Store>), BoxError> {
        Ok(((), Arc::new(builder().connect(&self.url).await?)))
    }

    async fn reopen(&self, _: &mut (), store: Arc<dyn Store>) -> Result<Arc<dyn Store>, BoxError> {
        drop(store);
        Ok(Arc::new(builder().connect(&self.url).await?))
    }
}

#[test]
fn a_database_that_compares_as_people_do_changes_nothing() {
    let any = url();
    let icu =
        "SELECT COUNT(*) FROM pg_collation WHERE collprovider = 'i' AND collname = 'en-US-x-icu'";
    let version = cell(&any, "SHOW server_version_num");
    if cell(&any, icu) == "0" || version.parse::<u32>().unwrap() < 150_000 {
        // That each column's collation is "C" is tested everywhere.
        eprintln!("NOT RUN: this PostgreSQL makes no database of an ICU locale");
        return;
    }
    query(
        &any,
        "CREATE DATABASE as_people_do TEMPLATE template0 ENCODING 'UTF8' \
         LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C'",
    );
    let backend = AsPeopleDo {
        url: Postgres::shared().url("as_people_do"),
    };
    assert_eq!(cell(&backend.url, "SELECT 'a' < 'B'"), "t");
    conformance::laws::text_compares_exactly(&backend).unwrap();
    conformance::laws::walking_a_list_yields_every_row_once_in_order(&backend).unwrap();
    conformance::laws::walking_rules_and_versions_yields_every_row_once_in_order(&backend).unwrap();
    conformance::laws::walking_the_queue_yields_every_item_once_in_order(&backend).unwrap();
    conformance::laws::walking_judged_runs_yields_every_run_once_in_order(&backend).unwrap();
}

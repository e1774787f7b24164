//! How many rows a page of a list examines on PostgreSQL, by its own account of the store's own
//! statements.

#![cfg(feature = "postgres")]

// What `benches` measures among a million judgments.
#[allow(dead_code, reason = "the benchmark uses more of it")]
#[path = "../../benches/src/bin/scale/lists.rs"]
mod lists;
#[path = "../../benches/src/bin/scale/place.rs"]
mod place;
#[allow(dead_code, reason = "the benchmark uses more of it")]
#[path = "../../benches/src/bin/scale/plans.rs"]
mod plans;
#[allow(dead_code, reason = "the benchmark uses more of it")]
#[path = "../../benches/src/bin/scale/seed.rs"]
mod seed;

mod postgres {
    use kindgi_core::{BoxError, model::PageSize, store::Keyset};
    use kindgi_store_sqlx::{
        SqlxStore,
        sqlx::{
            AssertSqlSafe, Executor as _,
            postgres::{PgConnectOptions, PgPoolOptions},
            query_as,
        },
    };
    use kindgi_test_servers::Postgres;

    use crate::{
        lists::{List, cases},
        plans::{EXPLAINED, Examined, Log},
        seed::Size,
    };

    /// Smaller tables are cheaper read whole, and PostgreSQL knows.
    const SIZE: Size = Size { judgments: 60_000 };
    /// A page far into a list; of a shorter one, its last full page.
    const LATE: usize = 40;

    /// How many rows a page may examine; `None` if any number.
    fn bound(list: &List, plan: &Examined) -> Option<u64> {
        let limit = u64::from(PageSize::default().get());
        match list {
            // Sorted: all that closed since, which are those that are counted, by their index and
            // then by themselves. Of much of the table, all of it.
            List::Queue(filter) if filter.closed_after.is_some() => {
                let is_much = plan.total > SIZE.items() / 10;
                Some(if is_much {
                    SIZE.items()
                } else {
                    2 * plan.total
                })
            }
            // So few that reading all is cheaper.
            List::Rules => None,
            List::Judgments(..) | List::Queue(_) | List::Runs(_) | List::Classes(..) => {
                Some(4 * limit)
            }
        }
    }

    #[tokio::test]
    async fn a_page_by_one_filter_examines_few_rows_alone_and_with_one_project() {
        // A log of its own.
        let server = Postgres::start_with(&[("autovacuum", "off")]);
        let url = server.fresh_database();
        let options: PgConnectOptions = url.parse().unwrap();
        let options = options.options(EXPLAINED);
        let options = options.options([("plan_cache_mode", "force_custom_plan")]);
        let pool = PgPoolOptions::new().max_connections(1);
        let pool = pool.connect_with(options).await.unwrap();
        let store = SqlxStore::builder().postgres(pool.clone()).await.unwrap();
        for step in SIZE.postgres_steps() {
            pool.execute(AssertSqlSafe(step)).await.unwrap();
        }
        pool.execute("VACUUM ANALYZE").await.unwrap();

        let query = async |sql| {
            let rows = query_as(AssertSqlSafe(sql)).fetch_all(&pool).await;
            Ok::<Vec<(i64, String)>, BoxError>(rows?)
        };
        let limit = PageSize::default();
        let mut over = Vec::new();
        let cases = cases(SIZE).unwrap().into_iter();
        for case in cases.filter(|case| case.is_single) {
            for page in [1, LATE] {
                let place = case.list.place(page, query).await.unwrap();
                let mut log = Log::of(server.folder()).unwrap();
                let after = place.after;
                let keyset = Keyset { after, limit };
                let shown = case.list.page(&store, &keyset).await.unwrap();
                assert!(shown > 0, "{case:?} is empty");
                assert_eq!(shown, place.rows, "{case:?}");
                let plan = log.plan().unwrap();
                assert!(plan.page >= shown as u64, "{case:?}: {plan:?}");
                if bound(&case.list, &plan).is_some_and(|bound| plan.page > bound) {
                    over.push(format!("{case:?}, page {}: {plan:?}", place.number));
                }
            }
        }
        assert!(over.is_empty(), "{}", over.join("\n"));
    }
}

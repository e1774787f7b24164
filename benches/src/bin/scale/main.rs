//! What a page of each list costs among a million judgments, and among a hundredth of them.
//!
//! ```sh
//! cargo run --release -p kindgi-benches --bin scale -- postgres
//! cargo run --release -p kindgi-benches --bin scale -- sqlite
//! cargo run --release -p kindgi-benches --bin scale -- postgres queue rules   # these lists alone
//! ```
//!
//! It starts a PostgreSQL server of its own, or makes files in a temporary folder; both are gone at
//! the end. It needs 4 GB on the disk. What it writes to standard output is Markdown.
//!
//! How many rows PostgreSQL examined is read from its own account of the store's own statements
//! (`auto_explain`). SQLite gives no such account.

mod lists;
mod place;
mod plans;
mod seed;
mod table;

use std::{
    env,
    io::{self, Write},
    process::ExitCode,
    time::{Duration, Instant},
};

use kindgi_core::{BoxError, model::PageSize, store::Keyset};
use kindgi_store_sqlx::{
    SqlxStore,
    sqlx::{
        AssertSqlSafe, Executor as _, PgPool, SqlitePool,
        postgres::{PgConnectOptions, PgPoolOptions},
        query_as,
        sqlite::SqlitePoolOptions,
    },
};
use kindgi_test_servers::Postgres;
use lists::{Case, List, cases};
use plans::{EXPLAINED, Examined, Log};
use seed::Size;
use table::{Line, Page};
use tokio::runtime::Runtime;

const SMALL: Size = Size { judgments: 10_000 };
const LARGE: Size = Size {
    judgments: 1_000_000,
};
/// The page that is measured beside the first.
const LATE: usize = 1000;
const SAMPLES: usize = 200;
/// Samples that are not counted come first.
const WARM_UP: usize = 5;
/// No more samples of a page are taken after this long, once there are a few.
const PATIENCE: Duration = Duration::from_millis(1500);
const A_FEW: usize = 11;
/// How often a statement is made until PostgreSQL may have chosen a plan for any values.
const USES: usize = 10;

fn main() -> ExitCode {
    match Runtime::new()
        .map_err(BoxError::from)
        .and_then(|runtime| runtime.block_on(run()))
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), BoxError> {
    let only: Vec<_> = env::args().skip(2).collect();
    match env::args().nth(1).as_deref() {
        Some("postgres") => postgres(&only).await,
        Some("sqlite") => sqlite(&only).await,
        _ => Err("say which database: postgres or sqlite".into()),
    }
}

/// A store of one size.
struct Sized {
    store: SqlxStore,
    rows: Rows,
    cases: Vec<Case>,
    explained: Option<Explained>,
}

/// The database without the store.
enum Rows {
    Postgres(PgPool),
    Sqlite(SqlitePool),
}

impl Rows {
    /// A statement's rows, each of a number and a text.
    async fn of(&self, sql: String) -> Result<Vec<(i64, String)>, BoxError> {
        let sql = AssertSqlSafe(sql);
        Ok(match self {
            Self::Postgres(pool) => query_as(sql).fetch_all(pool).await?,
            Self::Sqlite(pool) => query_as(sql).fetch_all(pool).await?,
        })
    }
}

/// The same store by connections whose statements are explained.
struct Explained {
    log: Log,
    /// With plans for each statement's own values, as `connect` has it.
    custom: SqlxStore,
    /// As PostgreSQL has it unless told.
    auto: SqlxStore,
    /// With plans for any values.
    generic: SqlxStore,
}

async fn postgres(only: &[String]) -> Result<(), BoxError> {
    let server = Postgres::start_with(&[
        ("shared_buffers", "1GB"),
        ("maintenance_work_mem", "256MB"),
        ("max_wal_size", "8GB"),
        ("autovacuum", "off"),
    ]);
    let mut sizes = Vec::new();
    for size in [SMALL, LARGE] {
        let url = server.fresh_database();
        let store = SqlxStore::builder().connect(&url).await?;
        let began = Instant::now();
        let pool = seed_postgres(&url, size).await?;
        say(&format!(
            "{} judgments: seeded in {:.0?}",
            size.judgments,
            began.elapsed()
        ));
        let explained = Explained {
            log: Log::of(server.folder())?,
            custom: explained(&url, "force_custom_plan").await?,
            auto: explained(&url, "auto").await?,
            generic: explained(&url, "force_generic_plan").await?,
        };
        sizes.push(Sized {
            store,
            rows: Rows::Postgres(pool),
            cases: chosen(size, only)?,
            explained: Some(explained),
        });
    }
    let version = server.query("postgres", "SHOW server_version");
    let version = version.into_iter().flatten().flatten().next();
    say(&format!("PostgreSQL {}", version.unwrap_or_default()));
    report(&mut sizes).await
}

async fn seed_postgres(url: &str, size: Size) -> Result<PgPool, BoxError> {
    let pool = PgPoolOptions::new().max_connections(1).connect(url).await?;
    // As a large load does: the indexes come after the rows.
    let indexes: Vec<(String, String)> =
        query_as("SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'kindgi_judgments'")
            .fetch_all(&pool)
            .await?;
    for (index, _) in &indexes {
        pool.execute(AssertSqlSafe(format!("DROP INDEX {index}")))
            .await?;
    }
    for step in size.postgres_steps() {
        pool.execute(AssertSqlSafe(step)).await?;
    }
    for (_, create) in indexes {
        pool.execute(AssertSqlSafe(create)).await?;
    }
    pool.execute("VACUUM ANALYZE").await?;
    pool.execute("CHECKPOINT").await?;
    Ok(pool)
}

/// The store by one connection whose statements are explained.
async fn explained(url: &str, plans: &str) -> Result<SqlxStore, BoxError> {
    let options: PgConnectOptions = url.parse()?;
    let options = options.options(EXPLAINED);
    let options = options.options([("plan_cache_mode", plans)]);
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .connect_with(options)
        .await?;
    Ok(SqlxStore::builder().postgres(pool).await?)
}

async fn sqlite(only: &[String]) -> Result<(), BoxError> {
    let folder = tempfile::tempdir()?;
    let mut sizes = Vec::new();
    for size in [SMALL, LARGE] {
        let url = format!(
            "sqlite:{}",
            folder.path().join(size.judgments.to_string()).display()
        );
        let store = SqlxStore::builder().connect(&url).await?;
        let began = Instant::now();
        let pool = SqlitePoolOptions::new()
            .max_connections(1)
            .connect(&url)
            .await?;
        pool.execute("PRAGMA cache_size = -500000; PRAGMA synchronous = OFF; BEGIN")
            .await?;
        for step in size.sqlite_steps() {
            pool.execute(AssertSqlSafe(step)).await?;
        }
        pool.execute("COMMIT").await?;
        say(&format!(
            "{} judgments: seeded in {:.0?}",
            size.judgments,
            began.elapsed()
        ));
        sizes.push(Sized {
            store,
            rows: Rows::Sqlite(pool),
            cases: chosen(size, only)?,
            explained: None,
        });
    }
    report(&mut sizes).await
}

/// The lists of these names, or all.
fn chosen(size: Size, only: &[String]) -> Result<Vec<Case>, BoxError> {
    let mut cases = cases(size)?;
    cases.retain(|case| only.is_empty() || only.iter().any(|name| *name == case.list.name()));
    Ok(cases)
}

/// Measures all, and writes it down.
async fn report(sizes: &mut [Sized]) -> Result<(), BoxError> {
    let mut lines = Vec::new();
    let began = Instant::now();
    let count = sizes.first().map_or(0, |size| size.cases.len());
    for number in 0..count {
        for page in [1, LATE] {
            let Some(line) = line(sizes, number, page).await? else {
                continue;
            };
            say(&format!(
                "{} of {count}, {:.0?}: {}: {:.2}",
                number + 1,
                began.elapsed(),
                line.name(),
                line.ratio()
            ));
            lines.push(line);
        }
    }
    write!(io::stdout(), "{}", table::tables(&lines))?;
    Ok(())
}

/// Measures a page of a list in each size; `None` if it is late, and the list has only one.
async fn line(sizes: &mut [Sized], number: usize, page: usize) -> Result<Option<Line>, BoxError> {
    let mut pages = Vec::new();
    for size in &mut *sizes {
        let case = &size.cases[number];
        let rows = async |sql| size.rows.of(sql).await;
        let place = case.list.place(page, rows).await?;
        let limit = PageSize::default();
        let after = place.after;
        let keyset = Keyset { after, limit };
        let shown = case.list.page(&size.store, &keyset).await?;
        if shown != place.rows {
            return Err(format!("{case:?}: {shown} rows instead of {}", place.rows).into());
        }
        let mut measured = Page {
            number: place.number,
            rows: shown,
            ..Page::default()
        };
        if let Some(explained) = &mut size.explained {
            let list = &case.list;
            let log = &mut explained.log;
            measured.custom = Some(used(list, &explained.custom, &keyset, 2, log).await?);
            measured.auto = Some(used(list, &explained.auto, &keyset, USES, log).await?);
            measured.generic = Some(used(list, &explained.generic, &keyset, 2, log).await?);
        }
        pages.push((measured, keyset));
    }
    if page > 1 && pages.iter().all(|(page, _)| page.number == 1) {
        return Ok(None);
    }
    let medians = medians(pages.len(), async |size| {
        let (_, keyset) = &pages[size];
        let Sized { store, cases, .. } = &sizes[size];
        cases[number].list.page(store, keyset).await.map(drop)
    });
    let medians = medians.await?;
    let totals = self::medians(pages.len(), async |size| {
        let Sized { store, cases, .. } = &sizes[size];
        cases[number].list.total(store).await.map(drop)
    });
    let totals = totals.await?;
    let times = medians.into_iter().zip(totals);
    let pages = pages.into_iter().zip(times);
    Ok(Some(Line {
        case: sizes[0].cases[number].clone(),
        pages: pages
            .map(|((page, _), (median, total))| Page {
                median,
                total,
                ..page
            })
            .collect(),
    }))
}

/// The medians of the times it takes in each size, in turn, so that what else the machine does
/// comes to each alike.
async fn medians(
    sizes: usize,
    once: impl AsyncFn(usize) -> Result<(), BoxError>,
) -> Result<Vec<Duration>, BoxError> {
    let began = Instant::now();
    let mut times = vec![Vec::new(); sizes];
    for sample in 0..WARM_UP + SAMPLES {
        for (size, times) in times.iter_mut().enumerate() {
            let start = Instant::now();
            once(size).await?;
            if sample >= WARM_UP {
                times.push(start.elapsed());
            }
        }
        if sample >= WARM_UP + A_FEW && began.elapsed() > PATIENCE {
            break;
        }
    }
    let median = |mut times: Vec<Duration>| {
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or_default()
    };
    Ok(times.into_iter().map(median).collect())
}

/// What the last of so many uses of a list's statement examined.
async fn used(
    list: &List,
    store: &SqlxStore,
    keyset: &Keyset,
    uses: usize,
    log: &mut Log,
) -> Result<Examined, BoxError> {
    for _ in 1..uses {
        list.page(store, keyset).await?;
    }
    log.plans()?;
    list.page(store, keyset).await?;
    log.plan()
}

fn say(what: &str) {
    let _ = writeln!(io::stderr(), "{what}");
}

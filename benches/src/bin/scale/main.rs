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
        AssertSqlSafe, Executor as _,
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
/// No more samples of a page are taken after this long.
const PATIENCE: Duration = Duration::from_secs(2);
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
    cases: Vec<Case>,
    explained: Option<Explained>,
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
        seed_postgres(&url, size).await?;
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
            cases: chosen(size, only)?,
            explained: Some(explained),
        });
    }
    let version = server.query("postgres", "SHOW server_version");
    let version = version.into_iter().flatten().flatten().next();
    say(&format!("PostgreSQL {}", version.unwrap_or_default()));
    report(&mut sizes).await
}

async fn seed_postgres(url: &str, size: Size) -> Result<(), BoxError> {
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
    pool.close().await;
    Ok(())
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
        pool.close().await;
        say(&format!(
            "{} judgments: seeded in {:.0?}",
            size.judgments,
            began.elapsed()
        ));
        sizes.push(Sized {
            store,
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
    let count = sizes.first().map_or(0, |size| size.cases.len());
    for number in 0..count {
        for page in [1, LATE] {
            let line = line(sizes, number, page).await?;
            say(&format!("{}: {:.2}", line.name(), line.ratio()));
            lines.push(line);
        }
    }
    write!(io::stdout(), "{}", table::tables(&lines))?;
    Ok(())
}

/// Measures a page of a list in each size.
async fn line(sizes: &mut [Sized], number: usize, page: usize) -> Result<Line, BoxError> {
    let mut pages = Vec::new();
    for size in &mut *sizes {
        let case = &size.cases[number];
        let (found, after) = case.list.place(&size.store, page).await?;
        let limit = PageSize::default();
        let keyset = Keyset { after, limit };
        let shown = case.list.page(&size.store, &keyset).await?;
        let mut measured = Page {
            number: found,
            rows: shown.rows,
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
    // In turn, so that what else the machine does comes to each alike.
    let began = Instant::now();
    let mut times = vec![Vec::new(); sizes.len()];
    for sample in 0..SAMPLES + 20 {
        for ((size, (_, keyset)), times) in sizes.iter().zip(&pages).zip(&mut times) {
            let start = Instant::now();
            size.cases[number].list.page(&size.store, keyset).await?;
            if sample >= 20 {
                times.push(start.elapsed());
            }
        }
        if sample > 40 && began.elapsed() > PATIENCE {
            break;
        }
    }
    for ((page, _), times) in pages.iter_mut().zip(&mut times) {
        times.sort_unstable();
        page.median = times.get(times.len() / 2).copied().unwrap_or_default();
    }
    Ok(Line {
        case: sizes[0].cases[number].clone(),
        pages: pages.into_iter().map(|(page, _)| page).collect(),
    })
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

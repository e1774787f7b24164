//! Idempotency keys.
//!
//! The statements of each step: a claim of a free key two, or one where a statement may write by
//! itself; of a key that has ended five, of one that is held or answered one (two, if by its own
//! token); an answer that is kept two, and one more if it is about something, which goes together
//! with the second; a renewal one; a release two.

use std::{collections::BTreeSet, num::NonZeroU16, sync::Arc, time::Duration};

use async_trait::async_trait;
use kindgi_core::{
    Timestamp,
    idempotency::{About, Begun, Claim, Completed, IdempotencyStore, KeptAnswer, Outcome, Token},
    model::TenantId,
    store::{OperationId, StoreResult},
};

use super::{
    CHUNK, SqlxStore, StoreClock, Tables,
    clock::Moment,
    codec::{
        self,
        bytes::{bytes, bytes_text},
        hex,
    },
    marks,
};
use crate::{
    drivers::{Alone, Connection},
    error::DbError,
    lock::Lock,
    sql::{self, Cell, Row, Sql},
};

#[async_trait]
impl IdempotencyStore for SqlxStore {
    async fn begin(&self, claim: Claim<'_>) -> StoreResult<Begun> {
        let steps = KeySteps::new(self, claim.key);
        let request = Request {
            tenant: claim.tenant.as_str().to_owned(),
            body: hex(claim.body),
            token: hex(&claim.token.0),
            hold: claim.hold,
        };
        // A key is free, as a rule; then nothing else need be looked at. One that isn't, or is, by
        // an answer that was lost on the way, is looked at below.
        if let Some(alone) = self.database.alone() {
            let free = steps.claimed(&request, Some(&alone));
            if self.database.run_alone(&free).await? > 0 {
                return Ok(Begun::Run);
            }
        }
        let begun = self.write(steps.lock(), move |connection| {
            Box::pin(async move { steps.begin(connection, &request).await })
        });
        Ok(begun.await?)
    }

    async fn renew(&self, key: &OperationId, token: &Token, hold: Duration) -> StoreResult<bool> {
        let (steps, token) = (KeySteps::new(self, key), hex(&token.0));
        let renewed = self.write(steps.lock(), move |connection| {
            Box::pin(async move {
                let renewed = steps.renewed(&token, hold);
                Ok(connection.execute(&renewed).await? > 0)
            })
        });
        Ok(renewed.await?)
    }

    async fn complete(
        &self,
        key: &OperationId,
        token: &Token,
        outcome: &Outcome,
        about: &[About],
        keep: Duration,
    ) -> StoreResult<Completed> {
        let (steps, token) = (KeySteps::new(self, key), hex(&token.0));
        let outcome = outcome_cells(outcome);
        let about: BTreeSet<About> = about.iter().cloned().collect();
        let completed = self.write(steps.lock(), move |connection| {
            Box::pin(async move {
                let answer = (outcome, &about, keep);
                steps.complete(connection, &token, answer).await
            })
        });
        Ok(completed.await?)
    }

    async fn release(&self, key: &OperationId, token: &Token) -> StoreResult<bool> {
        let (steps, token) = (KeySteps::new(self, key), hex(&token.0));
        let released = self.write(steps.lock(), move |connection| {
            Box::pin(async move { steps.release(connection, &token).await })
        });
        Ok(released.await?)
    }

    async fn forget(&self, tenant: &TenantId, about: &About) -> StoreResult<()> {
        let tables = Arc::clone(&self.tables);
        let (tenant, about) = (tenant.as_str().to_owned(), about.clone());
        let forgotten = self.write(Lock::Keys, move |connection| {
            Box::pin(async move {
                let told = told_of(&tables, &tenant, &about);
                let told = connection.fetch(&told).await?.into_iter();
                let told = told.map(|mut row| row.text().map(Cell::from));
                let told = told.collect::<Result<Vec<_>, _>>()?;
                remove_keys(connection, &tables, &told).await?;
                let bars = bars_of(&tables, &tenant, &about);
                connection.execute(&bars).await
            })
        });
        forgotten.await?;
        self.database.settle().await;
        Ok(())
    }

    /// Removes ended keys, and then, up to the same limit, ended operations of all tenants.
    async fn purge(&self, limit: NonZeroU16) -> StoreResult<u64> {
        let (tables, clock) = (Arc::clone(&self.tables), self.clock.clone());
        let purged = self.write(Lock::Keys, move |connection| {
            Box::pin(async move {
                let now = clock.now(connection).await?;
                purge(connection, &tables, now, limit).await
            })
        });
        Ok(purged.await?)
    }
}

/// What a claim says beside its key.
#[derive(Clone)]
struct Request {
    tenant: String,
    body: String,
    token: String,
    hold: Duration,
}

/// What the steps of one key need to know. The clock is looked at in the transaction, when nobody
/// else writes to the key: so its instants are in the order of the steps.
#[derive(Clone)]
struct KeySteps {
    tables: Arc<Tables>,
    clock: StoreClock,
    id: String,
}

impl KeySteps {
    fn new(store: &SqlxStore, key: &OperationId) -> Self {
        Self {
            tables: Arc::clone(&store.tables),
            clock: store.clock.clone(),
            id: hex(&key.0),
        }
    }

    fn lock(&self) -> Lock {
        Lock::Key(self.id.clone())
    }

    /// The statement that claims a key if it is free, also of whoever claims it at once; by itself, if
    /// what such a statement is from is given.
    fn claimed(&self, request: &Request, alone: Option<&Alone>) -> Sql {
        let table = &self.tables.idempotency_keys;
        let insert = format!("INSERT INTO {table} (id, tenant, body, token, ends_at) ");
        let later = self.clock.moment().later(request.hold);
        let values = Sql::new("?, ?, ?, ?, ")
            .bind(&*self.id)
            .bind(&*request.tenant)
            .bind(&*request.body)
            .bind(&*request.token)
            .push_sql(later);
        let sql = match alone {
            None => Sql::new(insert).push("VALUES (").push_sql(values).push(")"),
            Some(Alone { with, from }) => {
                let sql = Sql::new(format!("{with} {insert}SELECT ")).push_sql(values);
                sql.push(&format!(" FROM {from}"))
            }
        };
        sql.push(" ON CONFLICT (id) DO NOTHING")
    }

    async fn begin(
        &self,
        connection: &mut dyn Connection,
        request: &Request,
    ) -> Result<Begun, DbError> {
        let select = key(&self.tables, &self.id, &self.clock.moment());
        if let Some(mut row) = connection.fetch_first(&select).await? {
            let now = codec::time(row.int()?)?;
            let ends_at = codec::time(row.int()?)?;
            if ends_at > now {
                return self
                    .begin_again(connection, request, (now, ends_at), row)
                    .await;
            }
            let ended = Cell::from(&*self.id);
            remove_keys(connection, &self.tables, &[ended]).await?;
        }
        match connection.execute(&self.claimed(request, None)).await? {
            // Claimed by somebody's statement by itself since the look.
            0 => Err(DbError::Conflict("the key was claimed meanwhile".into())),
            _ => Ok(Begun::Run),
        }
    }

    /// A claim of a key that is held or answered.
    async fn begin_again(
        &self,
        connection: &mut dyn Connection,
        request: &Request,
        (now, ends_at): (Timestamp, Timestamp),
        mut row: Row,
    ) -> Result<Begun, DbError> {
        if row.text()? != request.body {
            return Ok(Begun::OtherBody);
        }
        match row.opt_text()? {
            None => answered(&mut row),
            Some(token) if token == request.token => {
                let renewed = self.renewed(&token, request.hold);
                connection.execute(&renewed).await?;
                Ok(Begun::Run)
            }
            Some(_) => {
                let left = ends_at.as_unix_millis() - now.as_unix_millis();
                Ok(Begun::InFlight {
                    retry_after: Duration::from_millis(left.try_into().unwrap_or(0)),
                })
            }
        }
    }

    /// The statement that renews a hold.
    fn renewed(&self, token: &str, hold: Duration) -> Sql {
        let table = &self.tables.idempotency_keys;
        let moment = self.clock.moment();
        let sql = Sql::new(format!("UPDATE {table} SET ends_at = CASE WHEN ends_at < "));
        let sql = sql.push_sql(moment.later(hold)).push(" THEN ");
        let sql = sql.push_sql(moment.later(hold));
        self.if_held(sql.push(" ELSE ends_at END"), token, &moment)
    }

    async fn complete(
        &self,
        connection: &mut dyn Connection,
        token: &str,
        (outcome, about, keep): (Vec<Cell>, &BTreeSet<About>, Duration),
    ) -> Result<Completed, DbError> {
        let moment = self.clock.moment();
        let held = self.held(connection, token, &moment).await?;
        let Some((tenant, bars)) = held else {
            return Ok(Completed::NotHeld);
        };
        if about.iter().any(|about| bars.contains(&thing_of(about))) {
            self.remove(connection).await?;
            return Ok(Completed::Forgotten);
        }
        let table = &self.tables.idempotency_keys;
        let update = Sql::new(format!("UPDATE {table} SET token = NULL, ends_at = "));
        let update = update.push_sql(moment.later(keep)).push(", answered_at = ");
        let update = update.push_sql(moment.now());
        let update = update.push(", status = ?, headers = ?, answer = ? WHERE id = ?");
        let mut all = vec![update.bind_all(outcome).bind(&*self.id)];
        let about: Vec<&About> = about.iter().collect();
        all.extend(about.chunks(CHUNK / 4).map(|about| {
            let table = &self.tables.idempotency_about;
            let rows = vec!["(?, ?, ?, ?)"; about.len()].join(", ");
            let insert = format!("INSERT INTO {table} (id, tenant, kind, thing) VALUES {rows}");
            about.iter().fold(Sql::new(insert), |insert, about| {
                let (kind, thing) = named(about);
                let insert = insert.bind(&*self.id).bind(&*tenant);
                insert.bind(kind).bind(thing)
            })
        }));
        connection.together(&all).await?;
        Ok(Completed::Kept)
    }

    /// If this token holds the key: its tenant, and what was forgotten since.
    async fn held(
        &self,
        connection: &mut dyn Connection,
        token: &str,
        moment: &Moment,
    ) -> Result<Option<(String, BTreeSet<Thing>)>, DbError> {
        let select = held(&self.tables, (&self.id, token), moment);
        let mut held = None;
        for mut row in connection.fetch(&select).await? {
            let tenant = row.text()?;
            let (_, bars) = held.get_or_insert_with(|| (tenant, BTreeSet::new()));
            if let Some(kind) = row.opt_text()? {
                bars.insert((kind, row.text()?));
            }
        }
        Ok(held)
    }

    async fn release(&self, connection: &mut dyn Connection, token: &str) -> Result<bool, DbError> {
        let table = &self.tables.idempotency_keys;
        let delete = Sql::new(format!("DELETE FROM {table}"));
        let delete = self.if_held(delete, token, &self.clock.moment());
        if connection.execute(&delete).await? == 0 {
            return Ok(false);
        }
        let table = &self.tables.idempotency_bars;
        let delete = Sql::new(format!("DELETE FROM {table} WHERE id = ?"));
        connection.execute(&delete.bind(&*self.id)).await?;
        Ok(true)
    }

    async fn remove(&self, connection: &mut dyn Connection) -> Result<(), DbError> {
        let id = Cell::from(&*self.id);
        remove_keys(connection, &self.tables, &[id]).await
    }

    fn if_held(&self, sql: Sql, token: &str, moment: &Moment) -> Sql {
        let sql = sql.push(" WHERE id = ? AND token = ? AND ends_at > ");
        sql.bind(&*self.id).bind(token).push_sql(moment.now())
    }
}

/// A kind of thing, and its id.
type Thing = (String, String);

fn named(about: &About) -> (&'static str, &str) {
    match about {
        About::Run(run) => ("run", run.as_str()),
        About::Participant(participant) => ("participant", participant.as_str()),
    }
}

fn thing_of(about: &About) -> Thing {
    let (kind, thing) = named(about);
    (kind.to_owned(), thing.to_owned())
}

/// Status, headers, body.
fn outcome_cells(outcome: &Outcome) -> Vec<Cell> {
    let answer = match outcome {
        Outcome::Withheld { status } => {
            return vec![i64::from(*status).into(), Cell::Null, Cell::Null];
        }
        Outcome::Answer(answer) => answer,
    };
    let headers = answer.headers.iter();
    let headers: Vec<Cell> = headers
        .flat_map(|(name, value)| [Cell::from(&**name), bytes_text(value).into()])
        .collect();
    vec![
        i64::from(answer.status).into(),
        sql::to_json(&headers).into(),
        bytes_text(&answer.body).into(),
    ]
}

/// From the instant and what [`outcome_cells`] gave.
fn answered(row: &mut Row) -> Result<Begun, DbError> {
    let corrupt = || DbError::corrupt("a kept answer");
    let at = codec::time(row.int()?)?;
    let status = u16::try_from(row.int()?).map_err(|_| corrupt())?;
    let Some(headers) = row.opt_text()? else {
        return Ok(Begun::Withheld { status, at });
    };
    let mut cells = Row::new(sql::from_json(headers)?);
    let mut headers = Vec::new();
    while !cells.is_over() {
        headers.push((cells.text()?, bytes(cells.text()?)?.into()));
    }
    let body = bytes(row.text()?)?.into();
    Ok(Begun::Replay(KeptAnswer {
        status,
        headers,
        body,
    }))
}

/// The statement of a key's row, with the time first.
pub(super) fn key(tables: &Tables, id: &str, moment: &Moment) -> Sql {
    let table = &tables.idempotency_keys;
    let columns = "ends_at, body, token, answered_at, status, headers, answer";
    let sql = Sql::new("SELECT ").push_sql(moment.now());
    let sql = sql.push(&format!(", {columns} FROM {table} WHERE id = ?"));
    sql.bind(id)
}

/// The statement of a key that a token holds: a row with each thing that was forgotten since, or
/// one without any.
pub(super) fn held(tables: &Tables, (id, token): (&str, &str), moment: &Moment) -> Sql {
    let Tables {
        idempotency_keys: keys,
        idempotency_bars: bars,
        ..
    } = tables;
    let sql = Sql::new(format!(
        "SELECT k.tenant, b.kind, b.thing FROM {keys} k LEFT JOIN {bars} b ON b.id = k.id \
         WHERE k.id = ? AND k.token = ? AND k.ends_at > "
    ));
    sql.bind(id).bind(token).push_sql(moment.now())
}

/// The statement of the keys whose answers tell of a thing.
pub(super) fn told_of(tables: &Tables, tenant: &str, about: &About) -> Sql {
    let (kind, thing) = named(about);
    let table = &tables.idempotency_about;
    let sql = Sql::new(format!(
        "SELECT id FROM {table} WHERE tenant = ? AND kind = ? AND thing = ?"
    ));
    sql.bind(tenant).bind(kind).bind(thing)
}

/// The statement that bars a tenant's requests in flight from keeping an answer about a thing, also
/// those whose holds have ended: it is the order of the steps that counts, not the clock.
pub(super) fn bars_of(tables: &Tables, tenant: &str, about: &About) -> Sql {
    let (kind, thing) = named(about);
    let Tables {
        idempotency_keys: keys,
        idempotency_bars: bars,
        ..
    } = tables;
    let sql = Sql::new(format!(
        "INSERT INTO {bars} (id, kind, thing) SELECT k.id, ?, ? FROM {keys} k \
         WHERE k.tenant = ? AND k.token IS NOT NULL AND NOT EXISTS \
         (SELECT 1 FROM {bars} b WHERE b.id = k.id AND b.kind = ? AND b.thing = ?)"
    ));
    let sql = sql.bind(kind).bind(thing).bind(tenant);
    sql.bind(kind).bind(thing)
}

/// The statement of keys that have ended.
pub(super) fn ended(tables: &Tables, now: Timestamp, limit: NonZeroU16) -> Sql {
    let sql = Sql::new(format!(
        "SELECT id FROM {} WHERE ends_at <= ? ORDER BY ends_at LIMIT ?",
        tables.idempotency_keys
    ));
    sql.bind(now.as_unix_millis()).bind(i64::from(limit.get()))
}

/// Removes keys with all that is kept with them.
async fn remove_keys(
    connection: &mut dyn Connection,
    tables: &Tables,
    ids: &[Cell],
) -> Result<(), DbError> {
    for ids in ids.chunks(CHUNK) {
        for table in [
            &tables.idempotency_about,
            &tables.idempotency_bars,
            &tables.idempotency_keys,
        ] {
            let which = marks(ids.len());
            let delete = Sql::new(format!("DELETE FROM {table} WHERE id IN ({which})"));
            connection.execute(&delete.bind_all(ids.to_vec())).await?;
        }
    }
    Ok(())
}

async fn purge(
    connection: &mut dyn Connection,
    tables: &Tables,
    now: Timestamp,
    limit: NonZeroU16,
) -> Result<u64, DbError> {
    let rows = connection.fetch(&ended(tables, now, limit)).await?;
    let ids = rows.into_iter().map(|mut row| row.text().map(Cell::from));
    let ids = ids.collect::<Result<Vec<_>, _>>()?;
    remove_keys(connection, tables, &ids).await?;
    let removed = u16::try_from(ids.len()).unwrap_or(u16::MAX);
    let left = NonZeroU16::new(limit.get().saturating_sub(removed));
    let operations = match left {
        None => 0,
        Some(left) => super::operations::forget_all_ended(connection, tables, now, left).await?,
    };
    Ok(u64::from(removed) + operations)
}

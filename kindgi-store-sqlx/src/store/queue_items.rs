//! Items of the queue: how they come, move and go, with all that is counted of them.

use kindgi_core::{
    model::{ItemState, QueueItem, TakenBy},
    rules::queue_state::{LiveJudgments, erased},
};

use super::{
    CHUNK, Steps,
    codec::{
        self,
        queue::{self, ITEM, item_cells, progress_text},
    },
    marks,
    queue_counts::Counts,
};
use crate::{
    drivers::Connection,
    error::DbError,
    sql::{Cell, Sql},
};

impl Steps {
    /// A run's item, if it has one.
    pub(super) async fn item_of(
        &self,
        connection: &mut dyn Connection,
        run: &str,
    ) -> Result<Option<QueueItem>, DbError> {
        let table = &self.tables.queue_items;
        let sql = format!("SELECT {ITEM} FROM {table} WHERE tenant = ? AND run = ?");
        let sql = Sql::new(sql).bind(&*self.tenant).bind(run);
        let row = connection.fetch_first(&sql).await?;
        row.map(|mut row| queue::item(&mut row)).transpose()
    }

    /// A run's live judgments by class.
    pub(super) async fn live_of(
        &self,
        connection: &mut dyn Connection,
        run: &str,
    ) -> Result<Vec<LiveJudgments>, DbError> {
        let sql = live_of(&self.tables.judgments, &self.tenant, run);
        let rows = connection.fetch(&sql).await?.into_iter();
        let live = rows.map(|mut row| {
            Ok(LiveJudgments {
                class: row.opt_text()?.map(codec::parse).transpose()?,
                judgments: queue::count(row.int()?)?,
                first_at: codec::time(row.int()?)?,
            })
        });
        live.collect()
    }

    /// Clears what an item says of its run and of people's words.
    pub(super) async fn erase_item(
        &self,
        connection: &mut dyn Connection,
        run: &str,
    ) -> Result<(), DbError> {
        let Some(item) = self.item_of(connection, run).await? else {
            return Ok(());
        };
        let next = erased(item.clone(), self.now);
        connection.together(&self.moved_item(&item, &next)).await
    }

    /// The statements that store a new item, to run together.
    pub(super) fn added_item(&self, item: &QueueItem) -> Vec<Sql> {
        let table = &self.tables.queue_items;
        let cells = item_cells(item);
        let insert = Sql::new(format!(
            "INSERT INTO {table} (tenant, wants_any, {ITEM}) VALUES (?, ?, {})",
            marks(cells.len())
        ));
        let insert = insert.bind(&*self.tenant).bind(item.wants_any());
        let mut all = vec![insert.bind_all(cells)];
        all.extend(self.counted(None, Some(item)));
        all
    }

    /// The statements that store what became of an item, to run together.
    pub(super) fn moved_item(&self, item: &QueueItem, next: &QueueItem) -> Vec<Sql> {
        if item == next {
            return Vec::new();
        }
        let table = &self.tables.queue_items;
        let agent = next.agent.as_ref();
        let update = Sql::new(format!(
            "UPDATE {table} SET agent = ?, agent_version = ?, progress = ?, state = ?, \
             closed_at = ?, closed_by = ?, reason = ? WHERE tenant = ? AND run = ?"
        ))
        .bind(agent.map(|(id, _)| id.as_str()))
        .bind(agent.map(|(_, version)| version.as_str()))
        .bind(progress_text(&next.progress))
        .bind(next.state.as_str())
        .bind(next.closed_at.map(|at| at.as_unix_millis()))
        .bind(next.closed_by.as_ref().map(|by| by.as_str()))
        .bind(next.reason.as_ref().map(|reason| reason.as_str()))
        .bind(&*self.tenant)
        .bind(next.run.as_str());
        let mut all = vec![update];
        if item.state != next.state {
            all.extend(self.counted(Some(item), Some(next)));
        }
        all
    }

    /// The statements that count an item out, as it was, and in, as it is, and what is open for each
    /// rule that took it.
    fn counted(&self, from: Option<&QueueItem>, to: Option<&QueueItem>) -> Vec<Sql> {
        let table = &self.tables.queue_counts;
        let out = from.map(|item| Counts::of(&self.tenant, item).out_of_table(table));
        let into = to.map(|item| Counts::of(&self.tenant, item).into_table(table));
        let mut all: Vec<_> = out.into_iter().chain(into).flatten().collect();
        for (item, by) in [(from, -1), (to, 1)] {
            if let Some(item) = item.filter(|item| item.state == ItemState::Open) {
                all.extend(self.counted_open(&item.taken_by, by));
            }
        }
        all
    }

    /// The statements that count an open item in, or out, for each rule that took it.
    fn counted_open(&self, taken_by: &[TakenBy], by: i64) -> Vec<Sql> {
        let table = &self.tables.rules;
        let chunks = taken_by.chunks(CHUNK).map(|takers| {
            let update = format!(
                "UPDATE {table} SET open_items = open_items + ? WHERE tenant = ? AND id IN ({})",
                marks(takers.len())
            );
            let rules = takers.iter().map(|by| Cell::from(by.rule.as_str()));
            let update = Sql::new(update).bind(by).bind(&*self.tenant);
            update.bind_all(rules)
        });
        chunks.collect()
    }
}

/// The statement of a run's live judgments by class.
pub(super) fn live_of(judgments: &str, tenant: &str, run: &str) -> Sql {
    let sql = format!(
        "SELECT class, COUNT(*), MIN(created_at) FROM {judgments} \
         WHERE tenant = ? AND run = ? AND unregistered_at IS NULL GROUP BY class"
    );
    Sql::new(sql).bind(tenant).bind(run)
}

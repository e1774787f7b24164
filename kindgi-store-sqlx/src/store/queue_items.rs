//! Items of the queue: how they come, move and go, with all that is counted of them.

use kindgi_core::{
    model::{ItemState, QueueItem, TakenBy},
    rules::queue_state::{LiveJudgments, erased, settled},
};

use super::{
    CHUNK, Steps,
    codec::{
        self,
        queue::{self, ITEM, item_cells, progress_text},
    },
    marks,
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

    /// Moves a run's item after the run's judgments changed.
    pub(super) async fn settle(
        &self,
        connection: &mut dyn Connection,
        run: &str,
    ) -> Result<(), DbError> {
        let Some(item) = self.item_of(connection, run).await? else {
            return Ok(());
        };
        let live = self.live_of(connection, run).await?;
        let next = settled(item.clone(), &live);
        self.move_item(connection, &item, &next).await
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
        self.move_item(connection, &item, &next).await
    }

    /// Stores a new item.
    pub(super) async fn add_item(
        &self,
        connection: &mut dyn Connection,
        item: &QueueItem,
    ) -> Result<(), DbError> {
        let table = &self.tables.queue_items;
        let cells = item_cells(item);
        let insert = Sql::new(format!(
            "INSERT INTO {table} (tenant, wants_any, {ITEM}) VALUES (?, ?, {})",
            marks(cells.len())
        ));
        let insert = insert.bind(&*self.tenant).bind(item.wants_any());
        connection.execute(&insert.bind_all(cells)).await?;
        self.count(connection, item, 1).await
    }

    /// Stores what became of an item.
    pub(super) async fn move_item(
        &self,
        connection: &mut dyn Connection,
        item: &QueueItem,
        next: &QueueItem,
    ) -> Result<(), DbError> {
        if item == next {
            return Ok(());
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
        connection.execute(&update).await?;
        if item.state != next.state {
            self.count(connection, item, -1).await?;
            self.count(connection, next, 1).await?;
        }
        Ok(())
    }

    /// Removes a run's item, if it has one.
    pub(super) async fn remove_item(
        &self,
        connection: &mut dyn Connection,
        run: &str,
    ) -> Result<(), DbError> {
        let Some(item) = self.item_of(connection, run).await? else {
            return Ok(());
        };
        let table = &self.tables.queue_items;
        let delete = format!("DELETE FROM {table} WHERE tenant = ? AND run = ?");
        let delete = Sql::new(delete).bind(&*self.tenant).bind(run);
        connection.execute(&delete).await?;
        self.count(connection, &item, -1).await
    }

    /// Counts an item in, or out, where it is.
    async fn count(
        &self,
        connection: &mut dyn Connection,
        item: &QueueItem,
        by: i64,
    ) -> Result<(), DbError> {
        let table = &self.tables.queue_counts;
        let place = |sql: Sql| {
            sql.bind(&*self.tenant)
                .bind(item.project.as_str())
                .bind(item.state.as_str())
        };
        let update = Sql::new(format!(
            "UPDATE {table} SET items = items + ? WHERE tenant = ? AND project = ? AND state = ?"
        ));
        if connection.execute(&place(update.bind(by))).await? == 0 {
            let insert = Sql::new(format!(
                "INSERT INTO {table} (tenant, project, state, items) VALUES (?, ?, ?, ?)"
            ));
            connection.execute(&place(insert).bind(by)).await?;
        }
        match item.state {
            ItemState::Open => self.count_open(connection, &item.taken_by, by).await,
            _ => Ok(()),
        }
    }

    /// Counts an open item in, or out, for each rule that took it.
    async fn count_open(
        &self,
        connection: &mut dyn Connection,
        taken_by: &[TakenBy],
        by: i64,
    ) -> Result<(), DbError> {
        let table = &self.tables.rules;
        for takers in taken_by.chunks(CHUNK) {
            let update = format!(
                "UPDATE {table} SET open_items = open_items + ? WHERE tenant = ? AND id IN ({})",
                marks(takers.len())
            );
            let rules = takers.iter().map(|by| Cell::from(by.rule.as_str()));
            let update = Sql::new(update).bind(by).bind(&*self.tenant);
            connection.execute(&update.bind_all(rules)).await?;
        }
        Ok(())
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

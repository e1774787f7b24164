//! A Redis cluster.

use std::sync::OnceLock;

use super::{Redis, Reply, or_panic};
use crate::{Error, child};

const NODES: usize = 3;
const SLOTS: usize = 16_384;

/// A cluster of three Redis servers of our own, none of which has a replica. What is said of one
/// [server](Redis) holds for each.
#[derive(Debug)]
pub struct RedisCluster {
    nodes: Vec<Redis>,
}

impl RedisCluster {
    /// The cluster that all tests of one process share, started when it is first asked for.
    #[track_caller]
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<RedisCluster> = OnceLock::new();
        SHARED.get_or_init(Self::start)
    }

    /// Starts a cluster.
    #[must_use]
    #[track_caller]
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts a cluster, each node with these of Redis's settings.
    #[must_use]
    #[track_caller]
    pub fn start_with(settings: &[(&str, &str)]) -> Self {
        or_panic(Self::try_start(settings))
    }

    /// Like [`start_with`](Self::start_with), but doesn't panic.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] where Redis isn't installed, [`Error::Failed`] with a server's log where
    /// there is no cluster.
    pub fn try_start(settings: &[(&str, &str)]) -> Result<Self, Error> {
        let nodes = (0..NODES).map(|_| {
            let mut ports = child::free_ports();
            let both = std::iter::from_fn(|| Some((ports.next()?, ports.next())));
            Redis::try_start_on(both, settings)
        });
        let nodes = nodes.collect::<Result<Vec<_>, _>>()?;
        let cluster = Self { nodes };
        cluster.form()?;
        Ok(cluster)
    }

    /// Gives each node its part of the slots, and makes them known to each other.
    fn form(&self) -> Result<(), Error> {
        for (number, node) in self.nodes.iter().enumerate() {
            let first = number * SLOTS / NODES;
            let last = (number + 1) * SLOTS / NODES - 1;
            let (first, last) = (first.to_string(), last.to_string());
            node.try_command(&["CLUSTER", "ADDSLOTSRANGE", &first, &last])?;
            // Else two nodes claim the same epoch, which takes them a while to settle.
            let epoch = (number + 1).to_string();
            node.try_command(&["CLUSTER", "SET-CONFIG-EPOCH", &epoch])?;
        }
        let (first, others) = self
            .nodes
            .split_first()
            .ok_or_else(|| Error::Failed("a cluster without nodes".to_owned()))?;
        for node in others {
            let port = node.port.to_string();
            let bus = node.bus_port.unwrap_or_default().to_string();
            first.try_command(&["CLUSTER", "MEET", "127.0.0.1", &port, &bus])?;
        }
        self.until_whole()
    }

    /// Waits until each node knows all others and where all slots are.
    fn until_whole(&self) -> Result<(), Error> {
        let whole = |node: &Redis| {
            let info = node.try_command(&["CLUSTER", "INFO"])?;
            let info = info.text().unwrap_or_default().to_owned();
            let has = |line: String| info.lines().any(|other| other.trim_end() == line);
            let all = has("cluster_state:ok".to_owned())
                && has(format!("cluster_slots_ok:{SLOTS}"))
                && has(format!("cluster_known_nodes:{NODES}"))
                && has(format!("cluster_size:{NODES}"));
            Ok::<bool, Error>(all)
        };
        child::until("the nodes of a cluster to know each other", || {
            for node in &self.nodes {
                if !whole(node)? {
                    return Ok(None);
                }
            }
            Ok(Some(()))
        })
    }

    /// The nodes.
    #[must_use]
    pub fn nodes(&self) -> &[Redis] {
        &self.nodes
    }

    /// The nodes, to stop, kill and start again.
    pub fn nodes_mut(&mut self) -> &mut [Redis] {
        &mut self.nodes
    }

    /// Waits until the cluster is whole again, after a node was started again.
    #[track_caller]
    pub fn wait(&self) {
        or_panic(self.until_whole());
    }

    /// The URLs of all nodes.
    #[must_use]
    pub fn urls(&self) -> Vec<String> {
        self.nodes.iter().map(Redis::url).collect()
    }

    /// The slot that a key is in.
    #[must_use]
    #[track_caller]
    pub fn slot_of(&self, key: &str) -> i64 {
        let slot = self
            .nodes
            .first()
            .map(|node| node.command(&["CLUSTER", "KEYSLOT", key]));
        slot.as_ref().and_then(Reply::int).unwrap_or(-1)
    }
}

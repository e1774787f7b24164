//! What is in Redis, by commands of the test's own.

use redis::{Connection, FromRedisValue, cmd};

/// All that a prefix has, but for marks, which are random.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) records: Vec<Record>,
    /// Until when the requests of each caller reach: seconds, and parts of a microsecond.
    pub(crate) callers: Vec<(i64, i64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Is {
    Held,
    Kept,
    Freed,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Record {
    pub(crate) key: Vec<u8>,
    pub(crate) is: Is,
    /// Milliseconds since the epoch.
    pub(crate) end: i64,
    pub(crate) token: Vec<u8>,
    pub(crate) is_marked: bool,
    pub(crate) things: Vec<Vec<u8>>,
    tenant: Vec<u8>,
    body: Vec<u8>,
    at: i64,
    answer: Vec<u8>,
}

const RECORDS: &str = "
    local all, out = redis.call('HGETALL', KEYS[1]), {}
    for n = 1, #all, 2 do
      local at, r = cmsgpack.unpack_one(all[n + 1])
      local answer = at > 0 and string.sub(all[n + 1], at + 1) or ''
      local marked = r[8] ~= '' and 1 or 0
      out[#out + 1] = { all[n], r[1], r[2], r[5], marked, r[7], r[4], r[3], r[6], answer }
    end
    return out";

const CALLERS: &str = "
    local out = {}
    for _, name in ipairs(redis.call('KEYS', ARGV[1] .. ':rate:*')) do
      local seconds, parts = cmsgpack.unpack(redis.call('GET', name))
      out[#out + 1] = { seconds, parts }
    end
    return out";

type Row = (
    Vec<u8>,
    u8,
    i64,
    Vec<u8>,
    bool,
    Vec<Vec<u8>>,
    Vec<u8>,
    Vec<u8>,
    i64,
    Vec<u8>,
);

impl Record {
    fn of(row: Row) -> Self {
        let (key, is, end, token, is_marked, mut things, tenant, body, at, answer) = row;
        let is = match is {
            1 => Is::Held,
            2 => Is::Kept,
            3 => Is::Freed,
            other => panic!("{other}"),
        };
        things.sort();
        Self {
            key,
            is,
            end,
            token,
            is_marked,
            things,
            tenant,
            body,
            at,
            answer,
        }
    }

    /// Its entries in the index.
    fn entries(&self) -> Vec<Vec<u8>> {
        match self.is {
            Is::Held => vec![[b"h", &*self.tenant, &self.key].concat()],
            Is::Kept => {
                let things = self.things.iter();
                let entry = |thing: &Vec<u8>| [b"a", &*self.tenant, thing, &self.key].concat();
                things.map(entry).collect()
            }
            Is::Freed => Vec::new(),
        }
    }
}

impl State {
    /// Looks, and sees that all of it belongs together: no step was taken in part.
    #[track_caller]
    pub(crate) fn of(server: &mut Connection, prefix: &str) -> Self {
        let name = |what: &str| format!("{{{prefix}:keys}}:{what}");
        let rows: Vec<Row> = ask(server, &["EVAL", RECORDS, "1", &name("records")]);
        let mut records: Vec<Record> = rows.into_iter().map(Record::of).collect();
        records.sort();

        let ends: Vec<(Vec<u8>, i64)> =
            ask(server, &["ZRANGE", &name("ends"), "0", "-1", "WITHSCORES"]);
        let mut should_be: Vec<_> = records.iter().map(|it| (it.key.clone(), it.end)).collect();
        should_be.sort_by_key(|(key, end)| (*end, key.clone()));
        assert_eq!(ends, should_be, "records by their ends");

        let index: Vec<Vec<u8>> = ask(server, &["ZRANGE", &name("index"), "0", "-1"]);
        let mut should_be: Vec<_> = records.iter().flat_map(Record::entries).collect();
        should_be.sort();
        assert_eq!(index, should_be, "the index");

        let mut callers: Vec<(i64, i64)> = ask(server, &["EVAL", CALLERS, "0", prefix]);
        callers.sort_unstable();
        Self { records, callers }
    }

    /// The one record there is.
    #[track_caller]
    pub(crate) fn only(&self) -> &Record {
        match &*self.records {
            [record] => record,
            other => panic!("{other:?}"),
        }
    }
}

#[track_caller]
pub(crate) fn ask<T: FromRedisValue>(server: &mut Connection, parts: &[&str]) -> T {
    let (name, arguments) = parts.split_first().unwrap();
    cmd(name).arg(arguments).query(server).unwrap()
}

/// The server's clock, in milliseconds since the epoch.
pub(crate) fn clock(server: &mut Connection) -> i64 {
    let (seconds, micros): (i64, i64) = ask(server, &["TIME"]);
    seconds * 1000 + micros / 1000
}

//! Links that are cut at any byte of a step: it is taken once, and who can't know is told so.

use kindgi_test_servers::Redis;

use super::{
    proxy::{Fate, Lengths, Proxy},
    steps::{Step, Trial},
    support::{assert_unknown, manager, multiplexed},
};
use Fate::{Cut, Lost, Passes};

/// A step's one command and its answer.
async fn lengths(step: Step, server: &Redis, proxy: &Proxy) -> Lengths {
    let trial = Trial::new(step, server.port()).await;
    proxy.fates(&[]);
    let bench = trial.bench(manager(proxy.port()).await);
    step.take(&bench).await.unwrap();
    let [only] = *proxy.answered() else {
        panic!("more than one command")
    };
    only
}

/// Bytes from the first to the last, of which the last are all.
fn bytes(length: usize) -> impl Iterator<Item = usize> {
    (0..length).filter(move |byte| byte % 16 == 0 || byte + 3 >= length)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_is_taken_once_wherever_its_command_is_cut() {
    let server = Redis::start();
    let proxy = Proxy::start(server.port());
    let connection = manager(proxy.port()).await;
    for step in Step::ALL {
        for byte in bytes(lengths(step, &server, &proxy).await.command) {
            let trial = Trial::new(step, server.port()).await;
            proxy.fates(&[Lost(byte)]);
            let answer = step.take(&trial.bench(connection.clone())).await;
            assert_eq!(answer.unwrap(), step.answer(), "cut at {byte}");
            trial.assert_taken(byte);
        }
    }
    proxy.answered();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_is_taken_once_wherever_its_answer_is_cut() {
    let server = Redis::start();
    let proxy = Proxy::start(server.port());
    let connection = manager(proxy.port()).await;
    for step in Step::ALL {
        for byte in 0..lengths(step, &server, &proxy).await.answer {
            let trial = Trial::new(step, server.port()).await;
            proxy.fates(&[Cut(byte)]);
            let answer = step.take(&trial.bench(connection.clone())).await;
            assert_eq!(answer.unwrap(), step.answer_again(), "cut at {byte}");
            trial.assert_taken(byte);
        }
    }
    proxy.answered();
}

/// A server that doesn't know the script is asked twice, and the link is cut at either.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_whose_script_is_lost_is_taken_once_wherever_the_link_is_cut() {
    let server = Redis::start();
    let proxy = Proxy::start(server.port());
    let connection = manager(proxy.port()).await;
    for step in Step::ALL {
        for fates in [
            &[Lost(100)][..],
            &[Cut(0)],
            &[Cut(5)],
            &[Passes, Lost(0)],
            &[Passes, Lost(1000)],
            &[Passes, Cut(0)],
            &[Passes, Cut(1)],
        ] {
            let trial = Trial::new(step, server.port()).await;
            server.command(&["SCRIPT", "FLUSH"]);
            proxy.fates(fates);
            let answer = step.take(&trial.bench(connection.clone())).await;
            let was_taken = matches!(fates, [Passes, Cut(_)]);
            let should_be = if was_taken {
                step.answer_again()
            } else {
                step.answer()
            };
            assert_eq!(answer.unwrap(), should_be, "{fates:?}");
            trial.assert_taken(fates);
            // The one that was cut, and what it took beside: at most both commands twice.
            assert!((1..=3).contains(&proxy.answered().len()), "{fates:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_cut_off_twice_is_told_that_it_isnt_known() {
    let server = Redis::start();
    let proxy = Proxy::start(server.port());
    let connection = manager(proxy.port()).await;
    for step in Step::ALL {
        let half = lengths(step, &server, &proxy).await.answer / 2;
        let fates = [Lost(0), Lost(99), Cut(0), Cut(half)];
        for both in fates.iter().flat_map(|one| fates.map(|two| [*one, two])) {
            let trial = Trial::new(step, server.port()).await;
            let bench = trial.bench(connection.clone());
            proxy.fates(&both);
            assert_unknown(&step.take(&bench).await.unwrap_err());
            let was_taken = both.iter().any(|fate| matches!(fate, Cut(_)));
            let should_be = if was_taken {
                trial.assert_taken(both);
                step.answer_to_another_call()
            } else {
                trial.assert_untouched(both);
                step.answer()
            };
            // The next call is on a link that is whole.
            assert_eq!(step.take(&bench).await.unwrap(), should_be, "{both:?}");
            // A request that is made again is another request.
            if step != Step::Count {
                trial.assert_taken(both);
            }
        }
    }
    proxy.answered();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_never_connects_again_tells_that_it_isnt_known() {
    let server = Redis::start();
    let proxy = Proxy::start(server.port());
    for step in Step::ALL {
        let Lengths { command, answer } = lengths(step, &server, &proxy).await;
        let fates = [Lost(0), Lost(command - 1), Cut(0), Cut(answer - 1)];
        for fate in fates {
            let trial = Trial::new(step, server.port()).await;
            let bench = trial.bench(multiplexed(proxy.port()).await);
            proxy.fates(&[fate]);
            assert_unknown(&step.take(&bench).await.unwrap_err());
            // Nor does it come back by itself.
            assert_unknown(&step.take(&bench).await.unwrap_err());
            let should_be = if matches!(fate, Cut(_)) {
                trial.assert_taken(fate);
                step.answer_to_another_call()
            } else {
                trial.assert_untouched(fate);
                step.answer()
            };
            let another = trial.bench(multiplexed(proxy.port()).await);
            assert_eq!(step.take(&another).await.unwrap(), should_be, "{fate:?}");
        }
    }
    proxy.answered();
}

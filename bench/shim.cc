// shim.cc - the only C++ of the tree: Google Benchmark under the C functions of shim.h.
#include "shim.h"

#include <benchmark/benchmark.h>
#include <functional>
#include <list>
#include <map>
#include <unordered_map>
#include <vector>

#include "book_command.h"

struct bench_run {
    benchmark::State &state;
    int64_t argument;
};

void bench_add_argument(const char *name, void (*body)(bench_run *), int64_t argument)
{
    benchmark::RegisterBenchmark(name, [body](benchmark::State &state) {
        bench_run run{ state, state.range(0) };
        body(&run);
    })->Arg(argument);
}

void bench_add(const char *name, void (*body)(bench_run *))
{
    benchmark::RegisterBenchmark(name, [body](benchmark::State &state) {
        bench_run run{ state, 0 };
        body(&run);
    });
}

bool bench_next(bench_run *run)
{
    return run->state.KeepRunning();
}

int64_t bench_argument(const bench_run *run)
{
    return run->argument;
}

void bench_pause(bench_run *run)
{
    run->state.PauseTiming();
}

void bench_resume(bench_run *run)
{
    run->state.ResumeTiming();
}

void bench_items(bench_run *run, int64_t per_iteration)
{
    run->state.SetItemsProcessed(static_cast<int64_t>(run->state.iterations()) * per_iteration);
}

void bench_bytes(bench_run *run, int64_t per_iteration)
{
    run->state.SetBytesProcessed(static_cast<int64_t>(run->state.iterations()) * per_iteration);
}

void bench_counter(bench_run *run, const char *name, double value)
{
    run->state.counters[name] = value;
}

void bench_fail(bench_run *run, const char *why)
{
    run->state.SkipWithError(why);
}

// The book everybody writes first: a map of lists a side, and a hash map of ids into the lists.
namespace
{
struct resting {
    uint64_t id[2];
    uint64_t hash;
    uint32_t number, quantity, price;
    uint8_t side;
};
using level = std::list<resting>;

struct order_id {
    uint64_t id[2];
    uint64_t hash; // keyed, made before: as in our book, nothing is hashed while matching
    bool operator==(const order_id &other) const
    {
        return id[0] == other.id[0] && id[1] == other.id[1];
    }
};

struct order_id_hash {
    size_t operator()(const order_id &key) const
    {
        return key.hash;
    }
};

struct market {
    std::map<uint32_t, level, std::greater<uint32_t>> bids;
    std::map<uint32_t, level> asks;
};
} // namespace

struct baseline_book {
    std::vector<market> markets;
    std::unordered_map<order_id, level::iterator, order_id_hash> orders;
    book_trades trades{ 0, 0 };

    template <class Side> void remove(Side &side, level::iterator order)
    {
        auto at = side.find(order->price);
        at->second.erase(order);
        if (at->second.empty())
            side.erase(at);
    }

    template <class Side, class Crosses>
    uint32_t match(Side &side, const book_command &command, uint32_t quantity, Crosses crosses)
    {
        while (quantity > 0 && !side.empty() && crosses(side.begin()->first, command.price)) {
            level &makers = side.begin()->second;
            while (quantity > 0 && !makers.empty()) {
                resting &maker = makers.front();
                uint32_t traded = maker.quantity < quantity ? maker.quantity : quantity;
                book_trade(&trades, maker.number, command.number, maker.price, traded);
                quantity -= traded;
                maker.quantity -= traded;
                if (maker.quantity == 0) {
                    orders.erase(order_id{ { maker.id[0], maker.id[1] }, maker.hash });
                    makers.pop_front();
                }
            }
            if (makers.empty())
                side.erase(side.begin());
        }
        return quantity;
    }

    void place(const book_command &command, const uint64_t *id, uint64_t hash)
    {
        market &m = markets[command.book];
        uint32_t rest =
            command.side == 0
                ? match(m.asks, command, command.quantity, std::less_equal<uint32_t>())
                : match(m.bids, command, command.quantity, std::greater_equal<uint32_t>());
        if (rest == 0)
            return;
        level &queue = command.side == 0 ? m.bids[command.price] : m.asks[command.price];
        queue.push_back(
            { { id[0], id[1] }, hash, command.number, rest, command.price, command.side });
        orders[order_id{ { id[0], id[1] }, hash }] = std::prev(queue.end());
    }

    void apply(const book_command &command)
    {
        if (command.op == BOOK_NEW)
            return place(command, command.id, command.hash);
        auto found =
            orders.find(order_id{ { command.target[0], command.target[1] }, command.target_hash });
        if (found == orders.end())
            return;
        level::iterator order = found->second;
        if (command.op == BOOK_REDUCE) {
            order->quantity -= command.quantity;
            return;
        }
        orders.erase(found);
        market &m = markets[command.book];
        if (order->side == 0)
            remove(m.bids, order);
        else
            remove(m.asks, order);
        if (command.op == BOOK_REPLACE)
            place(command, command.target, command.target_hash);
    }
};

baseline_book *baseline_book_make(uint32_t book_count, uint32_t order_count)
{
    auto *book = new baseline_book;
    book->markets.resize(book_count);
    book->orders.reserve(order_count);
    return book;
}

void baseline_book_free(baseline_book *book)
{
    delete book;
}

void baseline_book_apply(baseline_book *book, const book_command *commands, uint64_t command_count)
{
    for (uint64_t i = 0; i < command_count; i++)
        book->apply(commands[i]);
}

book_trades baseline_book_trades(const baseline_book *book)
{
    return book->trades;
}

int main(int argc, char **argv)
{
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
        return 2;
    bench_register();
    return benchmark::RunSpecifiedBenchmarks() > 0 ? 0 : 1;
}

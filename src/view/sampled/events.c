/* Samples in the order of time. */
#include "view/sampled/events.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

int
snd_events_has(const snd_events *self, const snd_profile_event *event)
{
    const snd_profile *profile = self->samples->profile;

    return event->start_ns <= SND_EVENT_TIME_LIMIT && event->duration_ns <= SND_EVENT_TIME_LIMIT &&
           event->node < profile->node_count && event->state < SND_SAMPLE_STATES &&
           self->samples->is_taken[event->node] &&
           snd_site_is_sampled(profile->sites[profile->nodes[event->node].site].kind);
}

void
snd_events_make(const snd_samples *samples, snd_events *out)
{
    const snd_profile *profile = samples->profile;
    size_t nodes = (size_t)profile->node_count + 1;
    snd_events self = {.samples = samples};

    if (profile->event_count == 0)
        snd_work_end(SND_NO_TIMELINE);
    self.by_node = snd_calloc(nodes, sizeof *self.by_node);
    self.by_state = snd_calloc(nodes * SND_SAMPLE_STATES, sizeof *self.by_state);
    self.taken_by_node = snd_calloc(nodes, sizeof *self.taken_by_node);
    self.taken_by_state = snd_calloc(nodes * SND_SAMPLE_STATES, sizeof *self.taken_by_state);
    for (uint64_t i = 0; i < profile->event_count; i++) {
        const snd_profile_event *event = &profile->events[i];
        if (!snd_events_has(&self, event))
            continue;
        self.by_node[event->node] += event->duration_ns;
        self.by_state[(size_t)event->node * SND_SAMPLE_STATES + event->state] += event->duration_ns;
    }
    *out = self;
}

/* `number` x `part` / `whole`, where the part is no more than the whole. */
static uint64_t
in_proportion(uint64_t number, uint64_t part, uint64_t whole)
{
    if (whole == 0 || part >= whole)
        return whole == 0 ? 0 : number;
    return (uint64_t)llround((double)number * ((double)part / (double)whole));
}

/* Of `number`, what belongs to the time from `taken` on: rounded as a running sum, nothing is lost. */
static uint64_t
next_part(uint64_t number, uint64_t taken, uint64_t duration, uint64_t whole)
{
    return in_proportion(number, taken + duration, whole) - in_proportion(number, taken, whole);
}

void
snd_events_take(snd_events *self, const snd_profile_event *event, uint64_t duration_ns, snd_samples_numbers *out)
{
    size_t at = (size_t)event->node * SND_SAMPLE_STATES;
    const uint64_t *by_state = self->by_state + at;
    uint64_t by_node = self->by_node[event->node], of_node = self->taken_by_node[event->node];
    uint64_t of_state = self->taken_by_state[at + event->state];
    snd_samples_numbers all;

    snd_samples_read(self->samples, event->node, &all);
    *out = (snd_samples_numbers){.samples = next_part(all.samples, of_node, duration_ns, by_node)};
    for (unsigned state = 0; state < SND_SAMPLE_STATES; state++)
        if (state == event->state)
            out->states[state] = next_part(all.states[state], of_state, duration_ns, by_state[state]);
        else if (by_state[state] == 0)
            out->states[state] = next_part(all.states[state], of_node, duration_ns, by_node);
    self->taken_by_node[event->node] += duration_ns;
    self->taken_by_state[at + event->state] += duration_ns;
}

void
snd_events_rewind(snd_events *self)
{
    size_t nodes = self->samples->profile->node_count;

    memset(self->taken_by_node, 0, nodes * sizeof *self->taken_by_node);
    memset(self->taken_by_state, 0, nodes * SND_SAMPLE_STATES * sizeof *self->taken_by_state);
}

int
snd_events_take_unseen(const snd_events *self, uint32_t node, snd_samples_numbers *out)
{
    return self->by_node[node] == 0 && snd_samples_read(self->samples, node, out) && snd_samples_time(out) != 0;
}

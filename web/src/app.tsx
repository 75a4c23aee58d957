// The frame around the views: navigation, search, threads, selection, theme, keyboard.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Recording, Track } from "./data";
import { HELP, onKey, type Actions } from "./keys";
import { baseName, duration, visible } from "./model/format";
import { WAITING } from "./model/values";
import type { ViewProps } from "./props";
import { readHash, sameSelection, withWaiting, writeHash, type State } from "./state";
import { setTheme, themeChoice, type Choice } from "./theme";
import { viewsOf, type View } from "./views";

/** Views that are drawn stand off the edge; tables reach it. */
const DRAWN = new Set(["flame", "tree", "sunburst", "timeline"]);

type Go = (change: (state: State) => State, push: boolean) => void;

/** In a frame without an address of its own the state is kept here alone. */
function writeAddress(state: State, push: boolean): void {
  try {
    history[push ? "pushState" : "replaceState"](null, "", "#" + writeHash(state));
  } catch {
    // about:srcdoc: there is no address to write.
  }
}

/** A page may come with a state to start with: a notebook that wants the sunburst. */
function firstState(): State {
  const given = document.getElementById("sonde-data")?.dataset.state ?? "";
  return readHash(location.hash.length > 1 ? location.hash : given);
}

function useHash(): [State, Go] {
  const [state, setState] = useState(firstState);
  const now = useRef(state);
  useEffect(() => {
    const follow = () => setState((now.current = readHash(location.hash)));
    addEventListener("popstate", follow);
    return () => removeEventListener("popstate", follow);
  }, []);
  const go: Go = (change, push) => {
    const next = change(now.current);
    if (next === now.current) return;
    const isOther = writeHash(next) !== writeHash(now.current);
    now.current = next;
    setState(next);
    if (isOther) writeAddress(next, push);
  };
  return [state, go];
}

function withOption(state: State, name: string, value: string | null): State {
  const { [name]: _, ...options } = state.options;
  return { ...state, options: value === null ? options : { ...options, [name]: value } };
}

function actionsOf(go: Go, views: View[], threads: number, search: { current: HTMLInputElement | null }, help: () => void): Actions {
  return {
    view: (index) => views[index] && go((state) => ({ ...state, view: views[index].id }), true),
    search: () => search.current?.select(),
    escape: () =>
      go((state) => {
        if (document.activeElement === search.current) search.current?.blur();
        if (state.search) return { ...state, search: "" };
        if (state.selection) return { ...state, selection: null };
        return state.range ? { ...state, range: null } : state;
      }, true),
    thread: (step) =>
      go((state) => ({ ...state, thread: ((state.thread + 1 + step + threads + 1) % (threads + 1)) - 1 }), true),
    help,
  };
}

export function App({ recordings }: { recordings: Recording[] }) {
  const [state, go] = useHash();
  const search = useRef<HTMLInputElement>(null);
  const help = useRef<HTMLDialogElement>(null);
  const isSecond = state.options["page.recording"] === "2" && recordings.length > 1 && state.view !== "compare";
  const recording = recordings[isSecond ? 1 : 0];
  const other = recordings[1];
  const views = viewsOf(recording, other);
  const view = views.find((one) => one.id === state.view) ?? views[0];
  const thread = state.thread < recording.tracks.length ? state.thread : -1;
  const props: ViewProps = {
    recording,
    other,
    state: { ...state, view: view.id, thread },
    onSelect: (selection) => go((now) => (sameSelection(now.selection, selection) ? now : { ...now, selection }), true),
    onRange: (range) => go((now) => ({ ...now, range }), true),
    onThread: (next) => go((now) => ({ ...now, thread: recording.tracks[next]?.summed_on ?? next }), true),
    onView: (next, selection) => go((now) => ({ ...now, view: next, selection: selection ?? now.selection }), true),
    onOption: (name, value, push = false) => go((now) => withOption(now, name, value), push),
  };
  useEffect(() => {
    const actions = actionsOf(go, views, withNodes(recording).length, search, () => help.current?.showModal());
    const listen = (event: KeyboardEvent) => onKey(event, actions);
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, [recording]);
  useEffect(() => {
    document.title = `${view.title} · ${recording.infos.program ?? ""} · sonde`;
    document.documentElement.dataset.ready = "1";
  }, [view, recording]);
  const Shown = view.component;
  return (
    <>
      <Header {...props} count={recordings.length} isSecond={isSecond} search={search} onSearch={(text) => go((now) => ({ ...now, search: text }), false)} onHelp={() => help.current?.showModal()} />
      <Tabs views={views} view={view} onView={props.onView} />
      <Chips {...props} views={views} />
      <main>
        <div id="view" class={DRAWN.has(view.id) ? "panel drawn" : "panel"} role="tabpanel" aria-labelledby={`tab-${view.id}`}>
          <Shown key={`${view.id} ${isSecond}`} {...props} />
        </div>
      </main>
      <Help dialog={help} />
    </>
  );
}

const THEMES: [Choice, string, string][] = [
  ["auto", "◐", "as the system"],
  ["light", "☀", "light"],
  ["dark", "☾", "dark"],
];

function ThemeButton() {
  const [choice, setChoice] = useState(themeChoice());
  const at = THEMES.findIndex(([name]) => name === choice);
  const [, sign, title] = THEMES[at];
  const next = THEMES[(at + 1) % THEMES.length][0];
  const change = () => {
    setTheme(next);
    setChoice(next);
  };
  return (
    <button onClick={change} title={`theme: ${title}`} aria-label={`theme: ${title}; change`}>
      {sign}
    </button>
  );
}

/** Threads of one name are told apart by their number. */
/** The tracks that can be chosen; those whose nodes are summed on them stand behind. */
function withNodes(recording: Recording): Track[] {
  return recording.tracks.filter((track) => track.summed_on === undefined);
}

function threadTitle(recording: Recording, track: Track): string {
  const isOne = track.name !== "" && recording.tracks.filter(({ name }) => name === track.name).length === 1;
  return visible(isOne ? track.name.slice(0, 60) : `${(track.name || "thread").slice(0, 60)} ${track.thread_id}`);
}

type HeaderProps = ViewProps & {
  count: number;
  isSecond: boolean;
  search: { current: HTMLInputElement | null };
  onSearch(text: string): void;
  onHelp(): void;
};

function Header(props: HeaderProps) {
  const { recording, state, count, isSecond } = props;
  return (
    <header>
      <div class="title">
        <span class="brand">sonde</span>
        <span class="program clip name" title={recording.infos.program_path ?? recording.infos.program}>
          {visible((recording.infos.program ?? "").slice(0, 200))}
        </span>
        <span class="muted">{duration(recording.length_ns)}</span>
      </div>
      {count > 1 && state.view !== "compare" && (
        <div class="group" role="group" aria-label="recording">
          {["1", "2"].map((which) => (
            <button key={which} aria-pressed={isSecond === (which === "2")} onClick={() => props.onOption("page.recording", which === "2" ? "2" : null, true)}>
              {which === "1" ? "First" : "Second"}
            </button>
          ))}
        </div>
      )}
      {recording.tracks.length > 1 && (
        <select aria-label="thread" title="n, p: next and previous thread" value={state.thread} onChange={(event) => props.onThread(Number(event.currentTarget.value))}>
          <option value={-1}>All threads</option>
          {withNodes(recording).map((track, i) => (
            <option key={i} value={i}>
              {threadTitle(recording, track)}
            </option>
          ))}
        </select>
      )}
      {WAITING.some((name) => recording.metrics.has(name)) && (
        <button aria-pressed={withWaiting(state)} title="Rank by CPU plus waiting time, not by CPU time alone" onClick={() => props.onOption("page.waiting", withWaiting(state) ? null : "1", true)}>
          With waiting
        </button>
      )}
      <input
        ref={props.search}
        type="search"
        aria-label="search"
        placeholder="Search  ( / )"
        value={state.search}
        onInput={(event) => props.onSearch(event.currentTarget.value)}
      />
      <ThemeButton />
      <button onClick={props.onHelp} aria-label="help: keys" title="keys ( ? )">
        ?
      </button>
    </header>
  );
}

function Tabs({ views, view, onView }: { views: View[]; view: View; onView(id: string): void }) {
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    const next = views[(views.indexOf(view) + step + views.length) % views.length];
    onView(next.id);
    document.getElementById(`tab-${next.id}`)?.focus();
    event.preventDefault();
  };
  return (
    <div class="tabs" role="tablist" aria-label="views" onKeyDown={onKeyDown}>
      {views.map((one, i) => (
        <button
          key={one.id}
          id={`tab-${one.id}`}
          role="tab"
          aria-selected={one === view}
          aria-controls="view"
          tabIndex={one === view ? 0 : -1}
          onClick={() => onView(one.id)}
        >
          {one.title}
          {i < 9 && <kbd aria-hidden="true">{i + 1}</kbd>}
        </button>
      ))}
    </div>
  );
}

/** What is selected and brushed, and the way out of it. */
function Chips({ recording, state, onSelect, onRange, onView, views }: ViewProps & { views: View[] }) {
  const { selection, range } = state;
  const { pruned } = recording;
  const isPruned = !!pruned && (pruned.nodes > 0 || pruned.events > 0); // tables that were cut say so themselves
  if (!selection && !range && !isPruned) return null;
  const linked = views.filter((one) => ["lines", "flame", "tree", "timeline"].includes(one.id) && one.id !== state.view);
  return (
    <div class="chips">
      {range && (
        <span class="chip">
          <span class="muted">range</span>
          <b>
            {duration(range[0])} – {duration(range[1])}
          </b>
          {!recording.events && <span class="muted">(no timeline in this recording: numbers cover all of it)</span>}
          <button class="close" aria-label="the whole recording" onClick={() => onRange(null)}>
            ✕
          </button>
        </span>
      )}
      {selection && (
        <span class="chip">
          <span class="muted">selected</span>
          <b class="clip name" title={selection.name.slice(0, 2000)}>
            {visible((selection.name || baseName(selection.file)).slice(0, 200))}
          </b>
          {selection.file && (
            <span class="muted clip" title={selection.file}>
              {baseName(selection.file).slice(0, 80)}
              {selection.line ? `:${selection.line}` : ""}
            </span>
          )}
          {linked.map((one) => (
            <button key={one.id} class="link" onClick={() => onView(one.id)}>
              {one.title}
            </button>
          ))}
          <button class="close" aria-label="clear the selection" onClick={() => onSelect(null)}>
            ✕
          </button>
        </span>
      )}
      {isPruned && <span class="muted">{pruned.text}</span>}
    </div>
  );
}

function Help({ dialog }: { dialog: { current: HTMLDialogElement | null } }) {
  return (
    <dialog ref={dialog} aria-labelledby="help-title">
      <h2 id="help-title">Keys</h2>
      <dl>
        {HELP.map(([keys, text]) => (
          <>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{text}</dd>
          </>
        ))}
      </dl>
      <button onClick={() => dialog.current?.close()}>Close</button>
    </dialog>
  );
}

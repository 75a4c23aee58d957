// The frame around the views: navigation, theme, keyboard.
import { useEffect, useState } from "preact/hooks";
import type { Recording } from "./data";
import { Flame, Sunburst, Timeline, Tree } from "./draw";
import type { ViewProps } from "./props";
import { readHash, writeHash, type State } from "./state";

const DRAWN = { flame: Flame, tree: Tree, sunburst: Sunburst, timeline: Timeline };

function useHash(): [State, (next: State, push: boolean) => void] {
  const [state, setState] = useState(() => readHash(location.hash));
  useEffect(() => {
    const follow = () => setState(readHash(location.hash));
    addEventListener("popstate", follow);
    return () => removeEventListener("popstate", follow);
  }, []);
  const go = (next: State, push: boolean) => {
    setState(next);
    history[push ? "pushState" : "replaceState"](null, "", "#" + writeHash(next));
  };
  return [state, go];
}

export function App({ recordings }: { recordings: Recording[] }) {
  const [state, go] = useHash();
  const props: ViewProps = {
    recording: recordings[0],
    state,
    onSelect: (selection) => go({ ...state, selection }, true),
    onRange: (range) => go({ ...state, range }, true),
    onThread: (thread) => go({ ...state, thread }, true),
    onView: (view) => go({ ...state, view }, true),
    onOption: (name, value, push = false) => {
      const { [name]: _, ...options } = state.options;
      go({ ...state, options: value === null ? options : { ...options, [name]: value } }, push);
    },
  };
  const View = DRAWN[state.view as keyof typeof DRAWN];
  return (
    <>
      <nav>
        {["summary", ...Object.keys(DRAWN)].map((view) => (
          <button key={view} onClick={() => props.onView(view)}>
            {view}
          </button>
        ))}
      </nav>
      <main>{View ? <View {...props} /> : <h1>{props.recording.infos.program}</h1>}</main>
    </>
  );
}

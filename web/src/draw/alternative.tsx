// What a canvas shows, as a table: for people who cannot see it, and for copying.
import type { ViewProps } from "../props";
import { useState } from "preact/hooks";
import { amount, share } from "./describe";
import { flatten } from "./merge";
import { placeOf, titleOf, type Names } from "./names";
import { selectionOf } from "./parts";
import type { Drawn } from "./source";
import { oneLine } from "./stage";

const MOST_ROWS = 100;

export function Alternative(props: { drawn: Drawn; names: Names; onSelect: ViewProps["onSelect"] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="draw-alternative" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>The same as a table</summary>
      {isOpen && <FlatTable {...props} />}
    </details>
  );
}

function FlatTable({ drawn, names, onSelect }: { drawn: Drawn; names: Names; onSelect: ViewProps["onSelect"] }) {
  const { frames, measure } = drawn;
  const whole = frames.total[0];
  const rows = [...flatten(frames)].filter(([what]) => what !== names.all).sort((a, b) => b[1].total - a[1].total);
  return (
    <div class="draw-table">
      <table>
        <caption>
          {rows.length > MOST_ROWS ? `The first ${MOST_ROWS} of ${rows.length} functions` : "Functions"}, {measure.title}
        </caption>
        <thead>
          <tr>
            {["Name", "Place", "Total", "%", "Own", "%"].map((title, i) => (
              <th key={i} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MOST_ROWS).map(([what, { own, total }]) => (
            <tr key={what}>
              <th scope="row">
                <button type="button" onClick={() => onSelect(selectionOf(names, what))}>
                  {oneLine(titleOf(names, what), 80)}
                </button>
              </th>
              <td>{oneLine(placeOf(names, what), 60)}</td>
              <td>{amount(total, measure)}</td>
              <td>{share(total, whole)}</td>
              <td>{amount(own, measure)}</td>
              <td>{share(own, whole)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

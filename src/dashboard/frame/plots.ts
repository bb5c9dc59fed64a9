import { type Html, html } from '../../html.ts'
import { hourOf, utcDayOf, whenWords } from './moments.ts'

/**
 * The values of one bar from bottom to top; each kind has a class with a color.
 * A `mark` is shown in red above the bar, and says what it marks.
 */
type Bar = { at: string; parts: readonly number[]; mark?: string }

type Plot = {
  /** Shown below the bars, and read by screen readers. */
  label: string
  /** What each bar is of; the moment of a `number` is shown as it is. */
  by: 'day' | 'hour' | 'number'
  bars: readonly Bar[]
  /** The parts of a bar, in order. */
  kinds: readonly { className: string; name: string }[]
  /** How a value is written; by default as a number. */
  format?: (value: number) => string
  /** A value that the bars are compared with. */
  line?: { at: number; name: string }
}

const height = 100

/** One bar per day, hour or number, scaled to the highest one. A bar's values are shown while the mouse is over it. */
export function barPlot({ label, by, bars, kinds, format = plainly, line }: Plot): Html {
  const sum = ({ parts }: Bar) => parts.reduce((total, part) => total + part, 0)
  const most = Math.max(1, ...bars.map(sum), line?.at ?? 0)
  const first = bars[0]?.at
  const last = bars.at(-1)?.at
  const when = (at: string | undefined) => at !== undefined && shownBy[by](at)
  return html`<figure class="card stack-tight">
    <div class="plot">
      <span class="plot-most" aria-hidden="true">${format(most)}</span>
      <svg
        class="chart"
        viewBox=${`0 0 ${bars.length * 10} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label=${`${label}, maximum ${format(most)}${line ? `, ${line.name} ${format(line.at)}` : ''}`}
      >
        <rect class="top" x="0" y="0" width=${bars.length * 10} height="1" />
        ${bars.map((bar, index) => stacked(bar, index, { most, by, kinds, format }))}
        ${line && limitLine(line.at / most, bars.length)}
        <rect class="rest" x="0" y=${height - 1} width=${bars.length * 10} height="1" />
      </svg>
    </div>
    <figcaption class="chart-ends">
      <span>${when(first)}</span>
      <span>${label}</span>
      <span>${when(last)}</span>
    </figcaption>
  </figure>`
}

const shownBy = { day: utcDayOf, hour: hourOf, number: (at: string) => at }

const limitLine = (share: number, bars: number): Html =>
  html`<rect class="limit" x="0" y=${Math.min(height - 1, height - share * height)} width=${bars * 10} height="1" />`

type Drawn = Required<Pick<Plot, 'by' | 'kinds' | 'format'>> & { most: number }

/** The bar, and over all of its column what says its values. */
function stacked({ at, parts, mark }: Bar, index: number, { most, by, kinds, format }: Drawn): Html {
  let top = height
  const rects = parts.map((part, kind) => {
    const high = (part / most) * height
    top -= high
    return html`<rect class=${kinds[kind]?.className} x=${index * 10 + 1} y=${top} width="8" height=${high} />`
  })
  const words = [
    ...parts.map((part, kind) => `${format(part)} ${kinds[kind]?.name ?? ''}`),
    ...(mark ? [mark] : []),
  ]
  const when = by === 'number' ? at : whenWords(at, by)
  return html`<g class="column"><title>${`${when}: ${words.join(', ')}`}</title>${rects}${
    mark && html`<rect class="bar-bad" x=${index * 10 + 1} y="0" width="8" height="6" />`
  }<rect
    class="column-all" x=${index * 10} y="0" width="10" height=${height} /></g>`
}

const plainly = (value: number): string => value.toLocaleString('en')

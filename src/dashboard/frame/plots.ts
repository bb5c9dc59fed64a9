import { type Html, html } from '../../html.ts'
import { hourOf, utcDayOf, whenWords } from './moments.ts'

/** The values of one bar from bottom to top; each kind has a class with a color. */
type Bar = { at: string; parts: readonly number[] }

type Plot = {
  /** Shown below the bars, and read by screen readers. */
  label: string
  by: 'day' | 'hour'
  bars: readonly Bar[]
  /** The parts of a bar, in order. */
  kinds: readonly { className: string; name: string }[]
  /** How a value is written; by default as a number. */
  format?: (value: number) => string
}

const height = 100

/** One bar per day or hour, scaled to the highest one. A bar's values are shown while the mouse is over it. */
export function barPlot({ label, by, bars, kinds, format = plainly }: Plot): Html {
  const sum = ({ parts }: Bar) => parts.reduce((total, part) => total + part, 0)
  const most = Math.max(1, ...bars.map(sum))
  const first = bars[0]?.at
  const last = bars.at(-1)?.at
  const when = (at: string | undefined) => at !== undefined && (by === 'day' ? utcDayOf(at) : hourOf(at))
  return html`<figure class="card stack-tight">
    <div class="plot">
      <span class="plot-most" aria-hidden="true">${format(most)}</span>
      <svg
        class="chart"
        viewBox=${`0 0 ${bars.length * 10} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label=${`${label}, maximum ${format(most)}`}
      >
        <rect class="top" x="0" y="0" width=${bars.length * 10} height="1" />
        ${bars.map((bar, index) => stacked(bar, index, { most, by, kinds, format }))}
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

type Drawn = Required<Pick<Plot, 'by' | 'kinds' | 'format'>> & { most: number }

/** The bar, and over all of its column what says its values. */
function stacked({ at, parts }: Bar, index: number, { most, by, kinds, format }: Drawn): Html {
  let top = height
  const rects = parts.map((part, kind) => {
    const high = (part / most) * height
    top -= high
    return html`<rect class=${kinds[kind]?.className} x=${index * 10 + 1} y=${top} width="8" height=${high} />`
  })
  const words = parts.map((part, kind) => `${format(part)} ${kinds[kind]?.name ?? ''}`).join(', ')
  return html`<g class="column"><title>${`${whenWords(at, by)}: ${words}`}</title>${rects}<rect
    class="column-all" x=${index * 10} y="0" width="10" height=${height} /></g>`
}

const plainly = (value: number): string => value.toLocaleString('en')

import { type Html, html } from '../../html.ts'

export type Stops = {
  /** The path of the license's page. */
  path: string
  /** The sequence of the license's last event. */
  last: number
  /** The event that the page shows the state after; undefined for the present. */
  chosen: number | undefined
  /** The selected device, kept in the URL. */
  device: string | undefined
  addressOf: (sequence: number) => string
}

/** A slider with one stop per event, for mouse, touch and arrow keys, and an input for any other time. */
export function momentSlider({ path, last, chosen, device, addressOf }: Stops): Html {
  const at = chosen ?? last
  const deviceField = device !== undefined && html`<input type="hidden" name="device" value=${device} />`
  return html`<div class="sheet stack">
    <form
      class="slider"
      method="get"
      action=${path}
      hx-get=${path}
      hx-trigger="input delay:150ms, submit"
      hx-target="#moment"
      hx-select="#moment"
      hx-select-oob="#state"
      hx-swap="outerHTML"
      hx-push-url="true"
    >
      ${deviceField}
      <label for="stop">After event</label>
      <input type="range" id="stop" name="asOf" min="0" max=${last} step="1" value=${at} />
      <span class="slider-ends"><span>0</span><span>${last.toLocaleString('en')}</span></span>
      <p class="actions">
        <button class="second">Show</button>
        ${at > 0 && html`<a href=${addressOf(at - 1)}>Previous event</a>`}
        ${at < last && html`<a href=${addressOf(at + 1)}>Next event</a>`}
      </p>
    </form>
    <div class="moments">
      <form class="inline-form" method="get" action=${path}>
        ${deviceField}
        <div class="field">
          <label for="at">Time (UTC)</label>
          <input type="datetime-local" id="at" name="at" step="1" required />
        </div>
        <button class="second">Go to time</button>
      </form>
      <form class="inline-form" method="get" action=${path}>
        <div class="field">
          <label for="from">Compare event</label>
          <input type="number" id="from" name="from" min="0" max=${last} value=${Math.max(0, at - 1)} required />
        </div>
        <div class="field">
          <label for="to">with event</label>
          <input type="number" id="to" name="to" min="0" max=${last} value=${at} required />
        </div>
        <button class="second">Compare</button>
      </form>
    </div>
  </div>`
}

import type { Page } from 'playwright-core'
import { z } from 'zod'

/** Controls, by the beginning of their HTML. */
const Watched = z.object({
  missed: z.array(z.string()),
  unseen: z.array(z.string()),
  deaf: z.array(z.string()),
})

/**
 * If the open page has forms, walks over its content with the tab key, and presses Enter in the first text field of
 * each form. Nothing is sent.
 * @returns controls that are not reached, those whose focus is not visible, and forms that Enter does not send
 */
export async function tryKeyboard(page: Page): Promise<z.infer<typeof Watched>> {
  const { presses, fields, forms } = z
    .object({ presses: z.int(), fields: z.int(), forms: z.int() })
    .parse(await page.evaluate(watchTheKeyboard))
  if (forms === 0) return { missed: [], unseen: [], deaf: [] }
  for (let press = 0; press < presses; press++) await page.keyboard.press('Tab')
  for (let field = 0; field < fields; field++) {
    await page.evaluate(`watched.fields[${field}].focus()`)
    await page.keyboard.press('Enter')
  }
  return Watched.parse(
    await page.evaluate(`({
      missed: watched.controls.filter((one) => !watched.reached.has(one)).map(watched.name),
      unseen: [...watched.unseen].map(watched.name),
      deaf: watched.fields.filter((one) => !watched.sent.has(one.form)).map(watched.name),
    })`),
  )
}

/** The parts of a date are separate stops of the tab key. Of radio buttons only one of a group is a stop. */
const watchTheKeyboard = `{
  const main = document.querySelector('main')
  const isDate = (one) => /^(?:date|time|datetime-local)$/.test(one.type)
  const controls = [...main.querySelectorAll('a[href], button, input, select, textarea, summary')].filter(
    (one) => one.type !== 'hidden' && !one.disabled && one.checkVisibility({ visibilityProperty: true }),
  )
  const group = (one) => (one.type === 'radio' ? [...document.getElementsByName(one.name)] : [one])
  const stops = controls.filter((one) => one.type !== 'radio' || group(one).find((other) => other.checked) === one
    || (group(one)[0] === one && !group(one).some((other) => other.checked)))
  const typed = (one) => /^(?:text|email|url|search|password|number|tel)$/.test(one.type ?? '')
  const fields = [...new Set(controls.filter((one) => typed(one) && one.form).map((one) => one.form))].map((form) =>
    controls.find((one) => typed(one) && one.form === form))
  globalThis.watched = {
    controls: stops, fields, reached: new Set(), unseen: new Set(), sent: new Set(),
    name: (one) => one.outerHTML.slice(0, 160),
  }
  document.addEventListener('focusin', ({ target }) => {
    watched.reached.add(target)
    const { outlineStyle, outlineWidth } = getComputedStyle(target)
    if (main.contains(target) && target !== main && (outlineStyle === 'none' || parseFloat(outlineWidth) < 2))
      watched.unseen.add(target)
  })
  for (const type of ['submit', 'invalid'])
    document.addEventListener(type, (event) => {
      event.preventDefault()
      event.stopImmediatePropagation()
      watched.sent.add(event.target.form ?? event.target)
    }, true)
  main.tabIndex = -1
  main.focus()
  watched.unseen.clear()
  // What scrolls is a stop, too. Beyond the last one the keys lead to the footer.
  const others = 7 * controls.filter(isDate).length + 10
  const result = { presses: stops.length + others, fields: fields.length, forms: main.querySelectorAll('form').length }
  result
}`

// What pages can do with JavaScript beside what they do without it: passkeys, copying, times in the reader's zone,
// suggestions of customers, and the key that leads to the search.

/** The token that the page's forms carry. */
const formToken = (form) => form.elements._csrf.value

async function challengeFor(form) {
  const response = await fetch(form.dataset.challenge, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-csrf-token': formToken(form) },
    body: '{}',
  })
  if (response.ok) return response.json()
  const { error } = await response.json().catch(() => ({}))
  throw new Error(error ?? 'Unexpected response from the server. Reload the page.')
}

/** A form with `data-passkey` asks the browser for a passkey and sends what it gets as an ordinary form. */
function usePasskeys(form) {
  const problem = form.querySelector('[role=alert]')
  const credential = form.querySelector('[data-credential]')
  form.hidden = false
  form.addEventListener('submit', async (event) => {
    if (credential.value !== '') return
    event.preventDefault()
    problem.textContent = ''
    try {
      const optionsJSON = await challengeFor(form)
      const { startAuthentication, startRegistration } = window.SimpleWebAuthnBrowser
      const ask = form.dataset.passkey === 'new' ? startRegistration : startAuthentication
      credential.value = JSON.stringify(await ask({ optionsJSON }))
      form.requestSubmit()
    } catch (error) {
      problem.textContent =
        error.name === 'NotAllowedError'
          ? 'The browser returned no passkey. Try again or use another sign-in method.'
          : error.message
    }
  })
}

/** How long a button says that it has copied. */
const copiedMs = 2000

/** Copies the field or the code beside the button, also in parts that htmx has put there since. */
async function copyFrom(button) {
  const shown = button.closest('.copyable').querySelector('input, textarea, pre, code')
  if (shown.select) shown.select()
  await navigator.clipboard.writeText(shown.value ?? shown.textContent)
  const name = button.ariaLabel
  button.textContent = 'Copied'
  button.ariaLabel = 'Copied'
  setTimeout(() => {
    button.textContent = 'Copy'
    button.ariaLabel = name
  }, copiedMs)
}

const dayForm = { day: 'numeric', month: 'short', year: 'numeric' }
const clockForm = { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' }
const timeForms = {
  moment: new Intl.DateTimeFormat('en-GB', { ...dayForm, ...clockForm }),
  day: new Intl.DateTimeFormat('en-GB', dayForm),
  clock: new Intl.DateTimeFormat('en-GB', clockForm),
  hour: new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', ...clockForm }),
}
const isUtc = ['UTC', 'Etc/UTC'].includes(timeForms.day.resolvedOptions().timeZone)

/** Writes the times of a page or a part of one in the reader's time zone. Their titles keep UTC. */
function localizeTimes(root) {
  if (isUtc) return
  for (const time of root.querySelectorAll('time[data-local]')) {
    const at = new Date(time.dateTime)
    // A time of day stands below its day in UTC: it names its own day where that is another one.
    const isOtherDay = at.getDate() !== at.getUTCDate()
    const form = time.dataset.local === 'clock' && isOtherDay ? 'hour' : time.dataset.local
    time.textContent = timeForms[form].format(at)
  }
}

/** Whether a key that was pressed is typed into something. */
const isTyping = ({ target, ctrlKey, metaKey, altKey }) =>
  ctrlKey || metaKey || altKey || target.isContentEditable || target.matches('input, textarea, select')

/** Shows the id that the server makes from a name when the field of the id is left empty. */
function suggestId(place) {
  const input = place.querySelector('input')
  const name = document.getElementById(place.dataset.idOf)
  const suggest = () => {
    const plain = name.value
      .normalize('NFKD')
      .toLowerCase()
      .replace(/\p{M}+/gu, '')
    input.placeholder = plain
      .replace(/[^a-z0-9]+/g, '-')
      .slice(0, 63)
      .replace(/^-+|-+$/g, '')
  }
  name.addEventListener('input', suggest)
  suggest()
}

/** How long a text stands unchanged before customers are suggested for it, and how much of it must be typed. */
const suggestAfterMs = 250
const suggestFrom = 3

/** Suggests the customers that the list of customers finds for the text of a field. */
function suggestCustomers(place) {
  const input = place.querySelector('input')
  const list = document.createElement('datalist')
  list.id = `${input.id}-suggested`
  input.after(list)
  input.setAttribute('list', list.id)
  let timer

  async function suggest() {
    const text = input.value.trim()
    if (text.length < suggestFrom || text.startsWith('cus_')) return
    const body = new URLSearchParams({ _csrf: formToken(input.form), text })
    const response = await fetch('/dashboard/customers/find', { method: 'POST', body }).catch(() => undefined)
    if (!response?.ok || input.value.trim() !== text) return
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    const found = [...page.querySelectorAll('#customers td:first-child, #customers th[scope=row]')]
    list.replaceChildren(
      ...found.flatMap((cell) => {
        const id = /cus_\w+$/.exec(cell.querySelector('a')?.getAttribute('href') ?? '')?.[0]
        return id
          ? [
              new Option(
                [...cell.querySelectorAll('a, .sub')]
                  .map((part) => part.textContent)
                  .filter(Boolean)
                  .join(', '),
                id,
              ),
            ]
          : []
      }),
    )
  }

  input.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(suggest, suggestAfterMs)
  })
}

/** So often a page that somebody looks at asks how many requests wait, and so much later when it gets no answer. */
const countEveryMs = 700
const countAgainMs = 5000

/** Keeps the count in the navigation up to date, until the session has ended. */
function keepCount(badge) {
  const shown = document.querySelectorAll('.waiting .count')
  let timer
  let asking = false

  async function ask() {
    clearTimeout(timer)
    if (document.hidden || asking) return
    asking = true
    let pause = countEveryMs
    try {
      const response = await fetch(badge.dataset.waiting, { redirect: 'manual' })
      if (response.type === 'opaqueredirect' || response.status === 403) return
      if (!response.ok) throw new Error(String(response.status))
      const { waiting } = await response.json()
      const text = waiting === 0 ? '' : String(waiting)
      for (const count of shown) if (count.textContent !== text) count.textContent = text
    } catch {
      pause = countAgainMs
    } finally {
      asking = false
    }
    timer = setTimeout(ask, pause)
  }

  document.addEventListener('visibilitychange', ask)
  timer = setTimeout(ask, countEveryMs)
}

for (const place of document.querySelectorAll('[data-id-of]')) suggestId(place)
for (const place of document.querySelectorAll('[data-customers]')) suggestCustomers(place)
for (const badge of document.querySelectorAll('[data-waiting]')) keepCount(badge)
if (window.SimpleWebAuthnBrowser?.browserSupportsWebAuthn()) {
  for (const form of document.querySelectorAll('form[data-passkey]')) usePasskeys(form)
}
if (navigator.clipboard) {
  document.documentElement.classList.add('can-copy')
  document.addEventListener('click', ({ target }) => {
    const button = target.closest('[data-copy]')
    if (button) copyFrom(button)
  })
}
localizeTimes(document)
document.addEventListener('htmx:load', ({ target }) => localizeTimes(target))
document.addEventListener('keydown', (event) => {
  const search = document.getElementById('search')
  if (event.key !== '/' || !search || isTyping(event)) return
  event.preventDefault()
  search.focus()
})

// What pages can do with JavaScript beside what they do without it: passkeys, and copying what is shown once.

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
  form.hidden = false
  form.addEventListener('submit', async (event) => {
    if (form.elements.credential.value !== '') return
    event.preventDefault()
    problem.textContent = ''
    try {
      const optionsJSON = await challengeFor(form)
      const { startAuthentication, startRegistration } = window.SimpleWebAuthnBrowser
      const ask = form.dataset.passkey === 'new' ? startRegistration : startAuthentication
      form.elements.credential.value = JSON.stringify(await ask({ optionsJSON }))
      form.requestSubmit()
    } catch (error) {
      problem.textContent =
        error.name === 'NotAllowedError'
          ? 'The browser returned no passkey. Try again or use another sign-in method.'
          : error.message
    }
  })
}

function offerCopying(button) {
  const input = document.getElementById(button.dataset.copy)
  button.hidden = false
  button.addEventListener('click', async () => {
    input.select()
    await navigator.clipboard.writeText(input.value)
    button.textContent = 'Copied'
  })
}

/** So often a page that somebody looks at asks how many requests wait, and so much later when it gets no answer. */
const countEveryMs = 700
const countAgainMs = 5000

/** Keeps the count in the navigation up to date, until the session has ended. */
function keepCount(badge) {
  const shown = badge.querySelector('.count')
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
      if (shown.textContent !== text) shown.textContent = text
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

for (const badge of document.querySelectorAll('[data-waiting]')) keepCount(badge)
if (window.SimpleWebAuthnBrowser?.browserSupportsWebAuthn()) {
  for (const form of document.querySelectorAll('form[data-passkey]')) usePasskeys(form)
}
if (navigator.clipboard) {
  for (const button of document.querySelectorAll('[data-copy]')) offerCopying(button)
}

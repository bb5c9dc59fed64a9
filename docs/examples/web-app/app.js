import { createClient, webStorage } from '@keyledger/client'

const settings = await (await fetch('/settings.json')).json()
const client = createClient({ ...settings, storage: webStorage(localStorage), platform: 'web' })
const place = document.querySelector('#state')
const form = document.querySelector('form')

const show = (state) => {
  place.textContent = state.status
  document.querySelector('#editor').disabled = !['licensed', 'offline', 'trial'].includes(state.status)
}

client.subscribe(show)
show(await client.start())
form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const { ok, problem } = await client.activate(new FormData(form).get('key'))
  if (!ok) place.textContent = problem.message
})

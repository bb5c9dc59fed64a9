const { license } = window
const place = document.querySelector('#state')

const show = (state) => {
  place.textContent = state.status
}

license.onChange(show)
license.state().then(show)
document.querySelector('#activate').addEventListener('submit', async (event) => {
  event.preventDefault()
  const { ok, problem, state } = await license.activate(new FormData(event.target).get('key'))
  if (ok) show(state)
  else place.textContent = problem.message
})

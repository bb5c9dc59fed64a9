/** The health check of the image: ends with 0 if the server of this container lives. */
const address = `http://127.0.0.1:${process.env.KEYLEDGER_PORT}/livez`
const lives = await fetch(address).then(
  ({ ok }) => ok,
  () => false,
)
process.exit(lives ? 0 : 1)

export {}

import { Server } from 'node:http'

/**
 * Loaded into a service (`--import`): each request waits before it is dealt with, and each answer before it leaves, so
 * that what the page asks for comes late and in any order, and events come before answers. Mostly a little, seldom long.
 */
const most = Number(process.env.COPSE_SLOW_ANSWERS)
const later = (work) => setTimeout(work, Math.random() ** 3 * most)

const { emit } = Server.prototype
Server.prototype.emit = function (event, ...given) {
  if (event !== 'request') return emit.call(this, event, ...given)
  const [, response] = given
  const { end } = response
  response.end = (...last) => {
    later(() => end.apply(response, last))
    return response
  }
  later(() => emit.call(this, event, ...given))
  return true
}

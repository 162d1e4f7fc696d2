/**
 * The state of each entry of the browser's history: its number, and whether it was made for a layer (a dialog or a
 * menu), in which case it shows the same screen as the entry before it.
 */
interface Place {
  readonly at: number
  readonly layer: boolean
}

function readPlace(state: unknown): Place | null {
  if (typeof state !== 'object' || state === null || !('at' in state) || !('layer' in state)) return null
  return typeof state.at === 'number' && typeof state.layer === 'boolean' ? { at: state.at, layer: state.layer } : null
}

interface Layer {
  readonly close: () => void
  /** The number of its entry; null if a later navigation took the entry. */
  at: number | null
}

export interface PageHistory {
  /** Adds an entry for another screen. One that was made for a layer becomes it instead. */
  push(hash: string): void
  /** Changes the address of the current entry. */
  replace(hash: string): void
  /** Gives an open layer an entry, so that Back calls `close`. Returns a function to call once it is closed. */
  openLayer(close: () => void): () => void
}

/**
 * Keeps the browser's history such that Back closes the topmost layer. A closed layer leaves its entry to the next layer
 * or screen; until then Back and Forward pass through the entry, because it shows nothing of its own.
 */
export function createPageHistory(onArrive: () => void): PageHistory {
  const { history, location } = window
  let place = readPlace(history.state) ?? { at: 0, layer: false }
  let last = place.at
  let shown = location.hash
  const layers: Layer[] = []
  const isOwned = (at: number) => layers.some((layer) => layer.at === at)
  const stamp = (next: Place, hash: string) => {
    history.replaceState(next, '', hash)
    place = next
    shown = hash
  }
  stamp(place, shown)

  function add(layer: boolean, hash: string): void {
    place = { at: place.at + 1, layer }
    last = place.at
    history.pushState(place, '', hash)
    shown = hash
  }
  function enter(layer: Layer): void {
    if (!place.layer || isOwned(place.at)) add(true, shown)
    layer.at = place.at
  }
  /** Gives entries to layers that stayed open although theirs is gone. */
  function reenter(): void {
    for (const layer of layers) if (layer.at === null) enter(layer)
  }
  function leave(layer: Layer): void {
    const index = layers.indexOf(layer)
    if (index !== -1) layers.splice(index, 1)
  }

  function arrive(): void {
    const was = place
    const known = readPlace(history.state)
    if (known === null) {
      // A link made the entry.
      last = was.at + 1
      stamp({ at: last, layer: false }, location.hash)
    } else place = known
    const left = layers.filter(({ at }) => at !== null && at > place.at)
    if (left.length > 0) {
      // The screen stays, also where its tab was changed while the layer was open.
      if (place.at === was.at - 1) stamp(place, shown)
      for (const layer of left.toReversed()) {
        layer.at = null
        layer.close()
      }
      // What refuses to close keeps an entry.
      setTimeout(reenter)
    } else if (was.layer && !isOwned(was.at) && place.at === was.at - 1) history.back()
    else if (place.layer && !isOwned(place.at) && place.at === was.at + 1 && place.at < last) history.forward()
    shown = location.hash
    onArrive()
  }
  window.addEventListener('popstate', arrive)

  return {
    push(hash) {
      if (shown === hash) return
      if (!place.layer) return add(false, hash)
      for (const layer of layers) if (layer.at === place.at) layer.at = null
      stamp({ at: place.at, layer: false }, hash)
      // A dialog may stay open over the new screen.
      setTimeout(reenter)
    },
    replace: (hash) => stamp(place, hash),
    openLayer(close) {
      const layer: Layer = { close, at: null }
      layers.push(layer)
      enter(layer)
      return () => leave(layer)
    },
  }
}

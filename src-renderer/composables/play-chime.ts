let context: AudioContext | null = null

/** Plays two short, quiet tones. */
export function playChime(): void {
  context ??= new AudioContext()
  // Browsers forbid sound before the first user interaction; the page then stays silent.
  if (context.state === 'suspended') void context.resume()
  const start = context.currentTime
  for (const [index, frequency] of [660, 880].entries()) {
    const tone = context.createOscillator()
    const volume = context.createGain()
    const from = start + index * 0.12
    tone.frequency.value = frequency
    volume.gain.setValueAtTime(0.0001, from)
    volume.gain.exponentialRampToValueAtTime(0.12, from + 0.015)
    volume.gain.exponentialRampToValueAtTime(0.0001, from + 0.18)
    tone.connect(volume).connect(context.destination)
    tone.start(from)
    tone.stop(from + 0.2)
  }
}

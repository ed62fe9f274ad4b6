// Bundled into every package that keeps a client of its own.

const PAUSE_MS = 30_000;

export class Beginning {
  #client;
  #failed;
  #pause;
  #isOver = false;

  constructor(client, failed = () => {}) {
    this.#client = client;
    this.#failed = failed;
  }

  async begin() {
    clearTimeout(this.#pause);
    try {
      await this.#client.initialize();
    } catch (error) {
      if (!this.#isOver) {
        this.#failed(error);
        clearTimeout(this.#pause);
        this.#pause = setTimeout(() => this.begin().catch(() => {}), PAUSE_MS);
        // It is no reason for a process to live on; where there is no process, it is a number.
        this.#pause.unref?.();
      }
      throw error;
    }
  }

  end() {
    this.#isOver = true;
    clearTimeout(this.#pause);
  }
}

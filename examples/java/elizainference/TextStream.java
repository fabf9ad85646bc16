package elizainference;

import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * A greedy answer as it comes. Its native half is eliza_jni.c; on Android both go into the app as they are. One thread
 * reads it; cancel may be called from any.
 */
public final class TextStream implements Iterator<String>, AutoCloseable {
    private long handle;
    private boolean ended;

    /**
     * Opens a model and hands it the prompt.
     *
     * @throws IllegalStateException whose message is "CODE: what was wrong", a line break, what to do
     */
    public TextStream(String model, String prompt, int maxTokens) {
        handle = open(bytes(model), bytes(prompt), maxTokens);
    }

    @Override
    public boolean hasNext() {
        return !ended;
    }

    /** Waits for the next piece; it may be empty. */
    @Override
    public String next() {
        if (ended) throw new NoSuchElementException();
        byte[] piece = read(handle);
        ended = piece[0] == 1;
        return new String(piece, 1, piece.length - 1, StandardCharsets.UTF_8);
    }

    /** The read that waits, and every later one, throws CANCELLED. */
    public void cancel() {
        cancel(handle);
    }

    @Override
    public void close() {
        if (handle != 0) free(handle);
        handle = 0;
        ended = true;
    }

    // JNI's own strings are no UTF-8.
    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static native long open(byte[] model, byte[] prompt, int maxTokens);

    /** The first byte is 1 for the last piece. */
    private static native byte[] read(long handle);

    private static native void cancel(long handle);

    private static native void free(long handle);

    public static void main(String[] arguments) {
        System.load(arguments[0]);
        try (TextStream stream = new TextStream(arguments[1], arguments[2], Integer.parseInt(arguments[3]))) {
            while (stream.hasNext()) {
                byte[] piece = bytes(stream.next());
                System.out.write(piece, 0, piece.length);
                System.out.flush();
            }
        }
    }
}

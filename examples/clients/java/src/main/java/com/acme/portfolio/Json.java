package com.acme.portfolio;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** As much JSON as the client needs, since the JDK has none. Where your project has a library for it, take that. */
final class Json {
    private static final Pattern NUMBER = Pattern.compile("-?\\d+(\\.\\d+)?([eE][+-]?\\d+)?");

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** Objects are maps, arrays lists, numbers BigDecimal. Throws IllegalArgumentException when it is no JSON object. */
    static Map<String, Object> readObject(String text) {
        Json json = new Json(text);
        if (json.next() != '{') throw json.wrong();
        Map<String, Object> object = json.object();
        if (json.next() != '\0') throw json.wrong();
        return object;
    }

    /** An object of texts and whole numbers. */
    static String write(Map<String, ?> object) {
        return object.entrySet().stream().map(field -> quote(field.getKey()) + ":" + (field.getValue() instanceof Number number
                ? number.toString() : quote(field.getValue().toString()))).collect(Collectors.joining(",", "{", "}"));
    }

    private static String quote(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') quoted.append('\\').append(c);
            else if (c < ' ') quoted.append("\\u%04x".formatted((int) c));
            else quoted.append(c);
        }
        return quoted.append('"').toString();
    }

    /** The next character that is no space; NUL at the end. */
    private char next() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) at++;
        return at < text.length() ? text.charAt(at) : '\0';
    }

    private IllegalArgumentException wrong() {
        return new IllegalArgumentException("no JSON at character " + at);
    }

    private void expect(char c) {
        if (next() != c) throw wrong();
        at++;
    }

    private Object value() {
        return switch (next()) {
            case '{' -> object();
            case '[' -> array();
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Map<String, Object> object() {
        Map<String, Object> object = new HashMap<>();
        at++;
        while (next() != '}') {
            if (!object.isEmpty()) expect(',');
            next();
            String name = string();
            expect(':');
            object.put(name, value());
        }
        at++;
        return object;
    }

    private List<Object> array() {
        List<Object> array = new ArrayList<>();
        at++;
        while (next() != ']') {
            if (!array.isEmpty()) expect(',');
            array.add(value());
        }
        at++;
        return array;
    }

    private String string() {
        expect('"');
        StringBuilder string = new StringBuilder();
        while (at < text.length()) {
            char c = text.charAt(at++);
            if (c == '"') return string.toString();
            string.append(c == '\\' ? escaped() : c);
        }
        throw wrong();
    }

    private char escaped() {
        if (at >= text.length()) throw wrong();
        char c = text.charAt(at++);
        if (c == 'u') {
            if (at + 4 > text.length()) throw wrong();
            at += 4;
            return (char) Integer.parseInt(text.substring(at - 4, at), 16);
        }
        int plain = "bfnrt".indexOf(c);
        return plain < 0 ? c : "\b\f\n\r\t".charAt(plain);
    }

    private Object word(String word, Object meaning) {
        if (!text.startsWith(word, at)) throw wrong();
        at += word.length();
        return meaning;
    }

    private BigDecimal number() {
        Matcher number = NUMBER.matcher(text).region(at, text.length());
        if (!number.lookingAt()) throw wrong();
        at = number.end();
        return new BigDecimal(number.group());
    }
}

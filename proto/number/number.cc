#include "proto/number/number.h"

#include "proto/number/decimal.h"
#include "proto/number/float_text.h"
#include "proto/number/half.h"
#include "proto/number/shortest.h"

#include <assert.h>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

namespace
{

template <enum dtype> struct storage;
#define X(ID, id, T, ...)                                                                          \
    template <> struct storage<DTYPE_##ID> {                                                       \
        using type = T;                                                                            \
    };
DTYPE_TABLE(X)
#undef X
template <enum dtype D> using element = typename storage<D>::type;

/* -------------------------------------------------------------------------- from text: integers */

template <typename T> number_stop to_integer(const char *text, const decimal &d, T most, T *out)
{
    uint64_t magnitude = d.mantissa;
    uint64_t limit = (uint64_t)most;

    if (!d.plain || d.whole > DECIMAL_DIGITS_MAX) {
        number_stop stop = decimal_magnitude(&d, text, &magnitude);
        if (stop != NUMBER_END)
            return stop;
    }
    if (d.negative)
        limit = std::is_signed<T>::value ? limit + 1 : 0;
    if (magnitude > limit)
        return NUMBER_RANGE;
    *out = (T)(d.negative ? 0 - magnitude : magnitude);
    return NUMBER_END;
}

/* ---------------------------------------------------------------------------- from text: floats */

inline bool to_double_fast(const decimal &d, double *value)
{
    if (d.whole + d.fraction > DECIMAL_DIGITS_MAX ||
        !decimal_exact(d.mantissa, d.exponent - d.fraction, value))
        return false;
    *value = d.negative ? -*value : *value;
    return true;
}

/* Any number of digits, any exponent. What is too small is a zero. */
template <typename T> number_stop to_float_slowly(const char *text, const decimal &d, T *out)
{
    std::from_chars_result result = std::from_chars(text, d.end, *out);

    if (result.ec == std::errc::result_out_of_range) {
        *out = d.negative ? (T)-0.0 : (T)0.0;
        return decimal_order(&d, text) >= 0 ? NUMBER_RANGE : NUMBER_END;
    }
    assert(result.ec == std::errc() && result.ptr == d.end);
    return std::isinf(*out) ? NUMBER_RANGE : NUMBER_END;
}

inline number_stop to_float(const char *text, const decimal &d, double *out)
{
    return to_double_fast(d, out) ? NUMBER_END : to_float_slowly(text, d, out);
}

/* The nearest double of a text rounds to the nearest float of the text, unless it stands halfway
 * between two floats: there what the double lost decides. (The fast way gives no double beyond the
 * normal floats.) */
inline number_stop to_float(const char *text, const decimal &d, float *out)
{
    constexpr uint64_t LOST = ((uint64_t)1 << 29) - 1, HALFWAY = (uint64_t)1 << 28;
    double value;
    uint64_t bits;

    if (!to_double_fast(d, &value))
        return to_float_slowly(text, d, out);
    memcpy(&bits, &value, sizeof(bits));
    if ((bits & LOST) == HALFWAY)
        return to_float_slowly(text, d, out);
    *out = (float)value;
    return NUMBER_END;
}

/* The nearest double of a text rounds to the nearest half of the text, unless it stands in the
 * middle of two: there what the double lost decides. */
inline number_stop to_half(const char *text, const decimal &d, const half_format &format,
                           uint16_t *out)
{
    double value;
    number_stop stop = to_float(text, d, &value);

    if (stop != NUMBER_END)
        return stop;
    if (half_is_tie(value, &format)) {
        int order = decimal_compare(&d, text, std::fabs(value));
        if (order != 0)
            value = std::nextafter(value, order < 0 ? 0.0 : std::copysign(HUGE_VAL, value));
    }
    *out = half_from_double(value, &format);
    return half_is_finite(*out, &format) ? NUMBER_END : NUMBER_RANGE;
}

/* Whether a float that was read from an integer without a fraction is exactly that integer. */
inline bool is_exact(const char *text, const decimal &d, float value)
{
    constexpr uint64_t ALL_EXACT = (uint64_t)1 << std::numeric_limits<float>::digits;

    if (d.whole <= DECIMAL_DIGITS_MAX)
        return d.mantissa <= ALL_EXACT || (uint64_t)std::fabs(value) == d.mantissa;
    return decimal_compare(&d, text, std::fabs(value)) == 0;
}

inline number_stop to_float_exactly(const char *text, const decimal &d, float *out)
{
    number_stop stop = to_float(text, d, out);

    return stop == NUMBER_END && d.plain && !is_exact(text, d, *out) ? NUMBER_INEXACT : stop;
}

/* ----------------------------------------------------------------------------- from text: lists */

template <enum dtype D> constexpr element<D> greatest()
{
    static_assert(DTYPES_INTEGERS >> D & 1, "a type that is no integer is read in its own way");
    return std::numeric_limits<element<D>>::max();
}

template <enum dtype D>
inline number_stop to_element(const char *text, const decimal &d, element<D> *out)
{
    if constexpr (D == DTYPE_BOOL)
        return to_integer<uint8_t>(text, d, 1, out);
    else if constexpr (D == DTYPE_FP16)
        return to_half(text, d, HALF_FP16, out);
    else if constexpr (D == DTYPE_BF16)
        return to_half(text, d, HALF_BF16, out);
    else if constexpr (std::is_floating_point<element<D>>::value)
        return to_float(text, d, out);
    else
        return to_integer(text, d, greatest<D>(), out);
}

template <typename T> using reader = number_stop(const char *text, const decimal &d, T *out);

template <typename T, reader<T> READ>
number_run read_list(const char *at, const char *end, T *out, int64_t most)
{
    int64_t count = 0;

    while (count < most) {
        decimal d;
        if (!decimal_scan(&d, at, end))
            return {at, count, NUMBER_NONE};
        number_stop stop = READ(at, d, out + count);
        if (stop != NUMBER_END)
            return {at, count, stop};
        count++;
        at = decimal_space(d.end, end);
        if (at == end || *at != ',')
            return {at, count, NUMBER_END};
        at = decimal_space(at + 1, end);
    }
    return {at, count, NUMBER_MORE};
}

/* -------------------------------------------------------------------------------------- to text */

template <enum dtype D> constexpr size_t text_max()
{
    using T = element<D>;
    if constexpr (D == DTYPE_BOOL)
        return sizeof("false,") - 1;
    else if constexpr (D == DTYPE_FP16 || D == DTYPE_BF16)
        return sizeof("\"-Infinity\",") - 1;
    else if constexpr (D == DTYPE_FP32)
        return 15;
    else if constexpr (D == DTYPE_FP64)
        return sizeof("-1.7976931348623157e+308,") - 1;
    else
        return std::is_signed<T>::value + std::numeric_limits<T>::digits10 + 1 + 1;
}

/* The text of one element; NULL for what is not finite. `roomy`: `out` has SHORTEST_ROOM bytes. */
template <enum dtype D> inline char *print_element(element<D> value, char *out, bool roomy)
{
    constexpr ptrdiff_t LONGEST = text_max<D>() - 1;

    if constexpr (D == DTYPE_BOOL) {
        size_t size = value ? 4 : 5;
        memcpy(out, value ? "true" : "false", size);
        return out + size;
    } else if constexpr (D == DTYPE_FP16 || D == DTYPE_BF16) {
        constexpr const half_format &format = D == DTYPE_FP16 ? HALF_FP16 : HALF_BF16;
        if (!half_is_finite(value, &format))
            return nullptr;
        return float_print(half_shortest(value, format), LONGEST, out);
    } else if constexpr (std::is_floating_point<element<D>>::value) {
        char *end = nullptr;
        if constexpr (D == DTYPE_FP32)
            end = roomy && !float_is_small_whole(value) ? shortest_print(value, out) : nullptr;
        if (end == nullptr && std::isfinite(value))
            end = float_print(value, LONGEST, out);
        return end;
    } else {
        return std::to_chars(out, out + LONGEST, value).ptr;
    }
}

template <enum dtype D> int64_t print_list(const element<D> *elements, int64_t count, char **out)
{
    constexpr int64_t ROOMY = SHORTEST_ROOM / text_max<D>() + 1; /* elements that give room */
    char *at = *out;
    int64_t i;

    for (i = 0; i < count; i++) {
        char *end = print_element<D>(elements[i], at, count - i >= ROOMY);
        if (end == nullptr)
            break;
        *end = ',';
        at = end + 1;
    }
    *out = at;
    return i;
}

} // namespace

/* ------------------------------------------------------------------------------- one row a type */

struct number_run number_read(enum dtype dtype, const char *text, const char *end, void *out,
                              int64_t most)
{
    switch (dtype) {
#define X(ID, id, T, ...)                                                                          \
    case DTYPE_##ID:                                                                               \
        return read_list<T, to_element<DTYPE_##ID>>(text, end, (T *)out, most);
        DTYPE_SCALARS(X)
#undef X
    default:
        assert(!"a type without numbers");
        __builtin_unreachable();
    }
}

struct number_run number_read_exact(const char *text, const char *end, float *out, int64_t most)
{
    return read_list<float, to_float_exactly>(text, end, out, most);
}

int64_t number_print(enum dtype dtype, const void *elements, int64_t count, char **out)
{
    switch (dtype) {
#define X(ID, id, T, ...)                                                                          \
    case DTYPE_##ID:                                                                               \
        return print_list<DTYPE_##ID>((const T *)elements, count, out);
        DTYPE_SCALARS(X)
#undef X
    default:
        assert(!"a type without numbers");
        __builtin_unreachable();
    }
}

size_t number_text_max(enum dtype dtype)
{
    switch (dtype) {
#define X(ID, ...)                                                                                 \
    case DTYPE_##ID:                                                                               \
        return text_max<DTYPE_##ID>();
        DTYPE_SCALARS(X)
#undef X
    default:
        return 0;
    }
}

const char *number_end(const char *text, const char *end)
{
    struct decimal d;

    return decimal_scan(&d, text, end) ? d.end : nullptr;
}
